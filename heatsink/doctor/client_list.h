// SPDX-License-Identifier: Apache-2.0
// Counts the clients that use tracking in the text of CLIENT LIST.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::doctor {

struct Trackers {
  std::uint64_t of_heatsink = 0;  // named as the proxy's and the library's trackers are
  std::uint64_t others = 0;
};

// `list`: a line per client, "id=3 addr=... name=heatsink-tracker ... flags=t ...". Does not count
// heatsink-doctor. O(text).
Trackers trackers_in(std::string_view list);

}  // namespace heatsink::doctor
