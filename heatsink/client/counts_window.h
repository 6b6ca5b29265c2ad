// SPDX-License-Identifier: Apache-2.0
// Calculates how much growing counters have grown within a sliding window.
#pragma once

#include <array>

#include "heatsink/base/clock.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::client {

// Is shown the totals now and then: at least once in a tenth of the window, or what is told is late
// by as much. Not thread-safe.
class CountsWindow {
 public:
  explicit CountsWindow(Nanos window) : clock_(window, detect::kSlotsMax) {}

  void look(const Counts& totals, TimePoint now);
  // Of the nine tenths of the window that are over, and the current one.
  Counts within() const;

 private:
  detect::SlotClock clock_;
  std::array<Counts, detect::kSlotsMax> before_{};  // each slot: what the totals were
  Counts latest_{};
};

}  // namespace heatsink::client
