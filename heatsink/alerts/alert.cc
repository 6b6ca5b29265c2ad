// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/alert.h"

#include <array>

namespace heatsink::alerts {

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, kKinds> kWords = {
      "hot",       "extremely-hot", "write-hot",   "imbalance",
      "hit-ratio", "stale",         "server-down", "test"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      break;
  }
  return "critical";
}

Severity severity_of(Kind kind) {
  if (kind == Kind::kHot || kind == Kind::kTest) return Severity::kInfo;
  if (kind == Kind::kStale || kind == Kind::kServerDown) return Severity::kCritical;
  return Severity::kWarning;
}

std::string Alert::identity() const {
  return std::string(to_string(kind)) + " " + std::to_string(db) + " " + std::to_string(key_hash) +
         " " + subject;
}

}  // namespace heatsink::alerts
