// SPDX-License-Identifier: Apache-2.0
// Knows which slots of a cluster need proofs, because local copies or clients' values rest on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"

namespace heatsink::topology {

// One thread. A slot needs a proof as long as a copy of it may live after its last fill, and then
// while clients keep values of it in caches of their own. No slot becomes proven because of a
// client: its value rests on a copy. Memory: 160 KiB once a slot is filled.
class ProvenSlots {
 public:
  // So many slots are proven for clients alone: each proof costs its node about 1 us.
  static constexpr std::size_t kForClientsMax = 1024;

  // A fill of a key of the slot is about to be sent.
  void filled(std::uint16_t slot, TimePoint now) {
    if (filled_at_.empty()) {
      filled_at_.resize(resp::kSlots);
      is_proven_.resize(resp::kSlots);
    }
    filled_at_[slot] = now;
    if (is_proven_[slot]) return;
    is_proven_[slot] = true;
    slots_.push_back(slot);
  }

  // Forgets the slots that need no proof any more. `life`: of a copy after its last fill. is_kept()
  // says whether clients keep values of a slot; give_up(): they do, but it is not proven any more.
  // Costs O(slots).
  template <class IsKept, class GiveUp>
  void forget_old(TimePoint now, Nanos life, IsKept is_kept, GiveUp give_up) {
    std::size_t for_clients = 0;
    std::erase_if(slots_, [&](std::uint16_t slot) {
      if (now - filled_at_[slot] <= life) return false;
      if (is_kept(slot)) {
        if (for_clients < kForClientsMax) {
          ++for_clients;
          return false;
        }
        give_up(slot);
      }
      is_proven_[slot] = false;
      return true;
    });
  }

  const std::vector<std::uint16_t>& slots() const { return slots_; }  // in the order of first fills

 private:
  std::vector<TimePoint> filled_at_;  // by slot; empty: before the first fill
  std::vector<bool> is_proven_;       // by slot
  std::vector<std::uint16_t> slots_;
};

}  // namespace heatsink::topology
