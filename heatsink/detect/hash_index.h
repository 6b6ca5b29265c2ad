// SPDX-License-Identifier: Apache-2.0
// Maps the hash of a key to its position in a list; rebuilt for each pass.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"

namespace heatsink::detect {

// Not thread-safe. At most half full, so most look-ups touch one cache line. Hashes are seeded, so
// attackers cannot force collisions. Allocates only when it grows.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Empties it, with room for `keys` keys before add() must grow it.
  void reset(std::size_t keys) {
    slots_.assign(std::bit_ceil((keys < 8 ? 8 : keys) * 2), Slot{});
    used_ = 0;
  }

  std::uint32_t find(KeyHash hash) const { return slots_[slot_of(hash)].index; }

  // REQUIRES: the key is not there; index != kNone.
  void add(KeyHash hash, std::uint32_t index) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    slots_[slot_of(hash)] = {hash, index};
    ++used_;
  }

 private:
  struct Slot {
    KeyHash hash;
    std::uint32_t index = kNone;
  };

  std::size_t slot_of(KeyHash hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash.value & mask;
    while (slots_[at].index != kNone && slots_[at].hash != hash) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.size() * 2, Slot{});
    for (const Slot& slot : before) {
      if (slot.index != kNone) slots_[slot_of(slot.hash)] = slot;
    }
  }

  std::vector<Slot> slots_{Slot{}, Slot{}};
  std::size_t used_ = 0;
};

}  // namespace heatsink::detect
