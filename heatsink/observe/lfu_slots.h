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

// The rate of a slot is the sum of its keys' estimates (lfu_rate()), so it is no better than they
// are. A counter up to kLfuBegin, which is what a new key has, adds nothing. The next step stands
// for (f + 1) / (60 decay) accesses per second, 0.18 as servers are set, and one read lifts a new
// key there: a slot may be said to have that much too much for each of its cold keys, which is why
// rates are for comparing slots. A key that SCAN gives twice, as it may while a server's table
// grows or shrinks, counts twice. Sums are of whole numbers, so nothing is lost in keeping them.
//
// 256 KiB, whatever the number of keys. Not thread-safe.
class LfuSlots {
 public:
  static constexpr std::size_t kTold = 100;

  LfuSlots();

  // REQUIRES slot < resp::kSlots, counter 0 .. kLfuMost. O(1).
  void add(std::uint16_t slot, int counter);

  // The kTold with the highest rates, of those that have any. None where a counter tells no rate
  // (a decay-time of 0). O(slots).
  std::vector<SlotSeen> busiest(const LfuSettings& settings) const;

  // A number of lines, and so many lines of four numbers: at most 16385 lines, 0.5 MiB.
  std::string saved() const;
  // Replaces all by what saved() gave; false, and nothing is changed, if this is something else.
  bool restore(std::istream& in);

 private:
  struct Slot {
    std::uint32_t keys = 0;
    std::uint32_t raised = 0;  // of them, with a counter above kLfuBegin
    std::uint64_t steps = 0;   // by how much, in all
  };
  static bool is_sound(const Slot& slot);

  std::vector<Slot> slots_;
};

}  // namespace heatsink::observe
