// SPDX-License-Identifier: Apache-2.0
// Says what several instances have counted together in one window, for the selector of each.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// A key that it lists is judged by these counts, too; a key that it does not list only by those of
// this instance. So a list that is cut, old or false cannot keep a key hot that is not in it.
struct FleetWindow {
  Summary counts;  // window 0: not known. Hashes of this process's seed; `at`: when it was received
  std::uint64_t instances = 0;  // how many have counted it
  Nanos step{0};                // about how often it is renewed
};

}  // namespace heatsink::detect
