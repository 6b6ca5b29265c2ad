// SPDX-License-Identifier: Apache-2.0
// Sums the access counters of a scan's keys for each slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "heatsink/observe/lfu_estimate.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

// The rate of a slot is the sum of its keys' estimates (lfu_rate()), with their errors. Counters up
// to kLfuBegin, the value of a new key, add nothing. The next step stands for (f + 1) / (60 decay)
// accesses per second, 0.18 with default settings, and a single read can lift a new key there. Each
// cold key may therefore add that much to its slot: use the rates to compare slots only. SCAN may
// return a key twice while the server's table grows or shrinks; the key then counts twice. Sums are
// whole numbers, so saving and restoring them loses nothing.
//
// 256 KiB, whatever the number of keys. Not thread-safe.
class LfuSlots {
 public:
  static constexpr std::size_t kTold = 100;

  LfuSlots();

  // REQUIRES slot < resp::kSlots, counter 0 .. kLfuMost. O(1).
  void add(std::uint16_t slot, int counter);

  // The kTold slots with the highest rates above 0. None with a decay-time of 0, where counters
  // give no rate. O(slots).
  std::vector<SlotSeen> busiest(const LfuSettings& settings) const;

  // The number of slots, then a line of four numbers for each: at most 16385 lines, 0.5 MiB.
  std::string saved() const;
  // Replaces all sums by the text of saved(). Returns false and changes nothing for other text.
  bool restore(std::istream& in);

 private:
  struct Slot {
    std::uint32_t keys = 0;
    std::uint32_t raised = 0;  // keys with a counter above kLfuBegin
    std::uint64_t steps = 0;   // the sum of their counters above kLfuBegin
  };
  static bool is_sound(const Slot& slot);

  std::vector<Slot> slots_;
};

}  // namespace heatsink::observe
