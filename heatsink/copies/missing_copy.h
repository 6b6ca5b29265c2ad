// SPDX-License-Identifier: Apache-2.0
// Says why a key has no local copy at the moment.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/detect/detect.h"

namespace heatsink::copies {

// What is known of a key without a copy.
struct MissingCopy {
  bool enabled = true;
  bool is_off = false;    // its level
  bool is_known = false;  // the table has an entry for it, so it gets copies
  std::string mark{};     // of the entry: why its replies are not kept; "": they are
  std::string problem{};  // why no copies are served; "": they are
  detect::Temperature temperature = detect::Temperature::kCold;
  bool earns = true;  // a key that is not hot gets a copy if that pays
  bool name_cut = false;
  bool is_worth_holding = true;
  std::uint64_t hits = 0;  // in the window
};

// A note that stands beside the hit ratio, and does not contradict it: of a key whose copies have
// answered it says why there is none now.
inline std::string why_no_copy(const MissingCopy& key) {
  if (!key.enabled) return "cache.enabled is false";
  if (key.is_off) return "its level is off";
  if (key.is_known && !key.mark.empty()) return key.mark;
  if (key.is_known) return key.problem.empty() ? "no read since its last change" : key.problem;
  if (key.temperature == detect::Temperature::kWriteHot)
    return "it has too many writes for its reads";
  if (key.temperature != detect::Temperature::kHot) {
    if (key.earns)
      return key.hits > 0 ? "its reads earn none any more" : "its reads have not earned one";
    return key.hits > 0 ? "it is hot no more" : "it is not hot";
  }
  if (key.name_cut) return "its name is too long";
  if (!key.is_worth_holding) return "it has too many writes for its reads";
  return "cache.maximum-size is used up";
}

}  // namespace heatsink::copies
