// SPDX-License-Identifier: Apache-2.0
// Tells for a name whether some client may keep it in a cache of its own, so that a change of any
// other name costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/hash.h"

namespace heatsink::cache {

// Counts, for all workers, the names that clients keep in near caches (docs/design/near-caches.md).
// Striped by the hash of the name: a name may be said to be kept because another one is. Beside it
// the same by slot of a cluster, whose owner may change. Lock-free, any thread. 256 KiB.
//
// A change and a registration may run at the same time in two threads. Then
//   the registration: add(name), then judges whether the copy is still valid;
//   the change:       ends the copies of the name, then has(name);
// and one of the two sees the other, because all four are in the one order of sequentially
// consistent operations. If has() says no, the registration is refused.
//
// The news of a change may still be on its way to a worker when a later copy has come. That worker
// learns by changes() that what its clients had before is over.
//
// A slot that its node has lost is a change of all its names: then note_slot_change() and
// has_slot() stand for note_change() and has().
class KeptNames {
 public:
  KeptNames() = default;
  KeptNames(const KeptNames&) = delete;

  // A worker's table has the name from now on, and no more. One count per table. `slot`: the
  // name's, < kSlots, whether the server is a node of a cluster or not.
  void add(NameHash name, std::uint16_t slot) noexcept {
    all_.fetch_add(1);
    stripe(name).kept.fetch_add(1);
    slots_[slot].kept.fetch_add(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void remove(NameHash name, std::uint16_t slot) noexcept {
    slots_[slot].kept.fetch_sub(1);
    stripe(name).kept.fetch_sub(1);
    all_.fetch_sub(1);
  }

  // The name has changed. Call it before a copy of the new value can be served.
  void note_change(NameHash name) noexcept { stripe(name).changes.fetch_add(1); }
  // All names of the slot may have.
  void note_slot_change(std::uint16_t slot) noexcept { slots_[slot].changes.fetch_add(1); }
  // How often, or another name of its stripe, or its slot; modulo 2^32.
  std::uint32_t changes(NameHash name, std::uint16_t slot) const noexcept {
    return stripe(name).changes.load() + slots_[slot].changes.load();
  }

  // REQUIRES, for the order above, that what the change did before is a sequentially consistent
  // read-modify-write, or that a fence stands in between.
  bool has(NameHash name) const noexcept { return stripe(name).kept.load() > 0; }
  bool has_slot(std::uint16_t slot) const noexcept { return slots_[slot].kept.load() > 0; }
  bool any() const noexcept { return all_.load() > 0; }
  std::uint64_t size() const noexcept { return all_.load(std::memory_order_relaxed); }

 private:
  struct Stripe {
    std::atomic<std::uint32_t> kept{0}, changes{0};
  };
  static constexpr std::size_t kStripes = std::size_t{1} << 14;
  static constexpr std::size_t kSlots = 16384;  // of a cluster

  Stripe& stripe(NameHash name) const noexcept { return stripes_[name.value & (kStripes - 1)]; }

  alignas(64) std::atomic<std::uint64_t> all_{0};
  const std::unique_ptr<Stripe[]> stripes_{new Stripe[kStripes]};
  const std::unique_ptr<Stripe[]> slots_{new Stripe[kSlots]};
};

}  // namespace heatsink::cache
