// SPDX-License-Identifier: Apache-2.0
// Calculates by how much counters have grown within a sliding window.
#pragma once

#include <array>

#include "heatsink/base/clock.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::client {

// The owner passes the totals at least once per tenth of the window; otherwise the result is late
// by the difference. Not thread-safe.
class CountsWindow {
 public:
  explicit CountsWindow(Nanos window) : clock_(window, detect::kSlotsMax) {}

  void look(const Counts& totals, TimePoint now);
  // The growth over the last nine complete tenths of the window and the current one.
  Counts within() const;

 private:
  detect::SlotClock clock_;
  std::array<Counts, detect::kSlotsMax> before_{};  // the totals at the begin of each slot
  Counts latest_{};
};

}  // namespace heatsink::client
