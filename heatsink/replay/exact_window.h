// SPDX-License-Identifier: Apache-2.0
// Counts a trace exactly in a sliding window, as the reference for the bounded recorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// Slots are aligned like the recorder's (detect/slot_clock.h): the window is the current slot and
// the slots - 1 before it. Needs no ring: it reads leaving accesses from the trace again. Not
// thread-safe. O(1) per access, amortised. Memory: 8 bytes per distinct key of the trace, and 4 for
// each access in the window of the busiest key. The accesses must outlive it.
class ExactWindow {
 public:
  ExactWindow(std::span<const TraceAccess> accesses, std::size_t keys, Nanos window,
              std::uint32_t slots);

  // Adds the next access of the trace and removes those that have left its window. Returns the
  // count of its key in the window. REQUIRES: at most as many calls as accesses.
  std::uint32_t add();

  // Lets time pass, forwards only.
  void advance(std::int64_t now_ns);

  std::uint32_t count(std::uint32_t key) const { return counts_[key]; }
  std::uint32_t writes(std::uint32_t key) const { return writes_[key]; }
  std::uint64_t requests() const { return next_ - first_; }
  // The accesses of the n-th busiest key (from 1); 0 if there are fewer keys. O(the largest count).
  std::uint32_t nth(std::size_t n) const;

 private:
  void change(const TraceAccess& access, bool comes);

  std::span<const TraceAccess> accesses_;
  std::int64_t slot_ns_;
  std::int64_t slots_;
  std::size_t first_ = 0;  // of the window ...
  std::size_t next_ = 0;   // ... and behind it
  std::int64_t begin_ns_ = 0;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> writes_;
  std::vector<std::uint32_t> keys_with_;  // [n]: the number of keys with n accesses in the window
};

}  // namespace heatsink::replay
