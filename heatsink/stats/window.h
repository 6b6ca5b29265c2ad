// SPDX-License-Identifier: Apache-2.0
// Keeps the statistics of the numbers of the last seconds, in a sliding window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/stats/summary.h"

namespace heatsink::stats {

inline constexpr std::uint32_t kSlotsMax = 60;

struct WindowOptions {
  Nanos length = std::chrono::seconds(60);
  std::uint32_t slots = 10;  // 1 .. kSlotsMax; the window moves in steps of length / slots
};

// One thread. The window covers the current slot and the slots - 1 before it, so a number stays for
// the window's length, or up to a slot less. Numbers leave without a timer. record() takes about 5
// ns (bench_stats). Time may stand still; a step back counts as standing still.
class Window {
 public:
  // REQUIRES length > 0.
  explicit Window(const WindowOptions& options);

  void record(std::int64_t value, TimePoint now) {
    if (now >= next_) [[unlikely]]
      advance(now);
    current_->add(value);
  }

  // The statistics of the window at `now`. O(slots x buckets).
  Summary summary(TimePoint now);

  // The oldest time that summary(now) counts.
  TimePoint covered_from(TimePoint now) const;
  std::size_t memory_bytes() const;

 private:
  std::int64_t number_at(TimePoint now) const;
  void advance(TimePoint now);

  const Nanos slot_;
  std::vector<Summary> slots_;
  std::int64_t number_ = 0;  // of the current slot, since time began
  TimePoint next_ = TimePoint::min();
  Summary* current_ = nullptr;
};

}  // namespace heatsink::stats
