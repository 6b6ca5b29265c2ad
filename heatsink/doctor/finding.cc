// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/finding.h"

#include <algorithm>

namespace heatsink::doctor {

const char* to_string(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "error";
}

std::size_t count_of(const Findings& findings, Level level) {
  return static_cast<std::size_t>(std::ranges::count(findings, level, &Finding::level));
}

}  // namespace heatsink::doctor
