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
// Striped by the hash of the name: a name may be said to be kept because another one is. Lock-free,
// any thread. 128 KiB.
//
// A change and a registration may run at the same time in two threads. Then
//   the registration: add(name), then judges whether the copy is still valid;
//   the change:       ends the copies of the name, then has(name);
// and one of the two sees the other, because all four are in the one order of sequentially
// consistent operations. If has() says no, the registration is refused.
//
// The news of a change may still be on its way to a worker when a later copy has come. That worker
// learns by changes() that what its clients had before is over.
class KeptNames {
 public:
  KeptNames() = default;
  KeptNames(const KeptNames&) = delete;

  // A worker's table has the name from now on, and no more. One count per table.
  void add(NameHash name) noexcept {
    all_.fetch_add(1);
    stripe(name).kept.fetch_add(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void remove(NameHash name) noexcept {
    stripe(name).kept.fetch_sub(1);
    all_.fetch_sub(1);
  }

  // The name has changed. Call it before a copy of the new value can be served.
  void note_change(NameHash name) noexcept { stripe(name).changes.fetch_add(1); }
  // How often, or another name of its stripe; modulo 2^32.
  std::uint32_t changes(NameHash name) const noexcept { return stripe(name).changes.load(); }

  // REQUIRES, for the order above, that what the change did before is a sequentially consistent
  // read-modify-write, or that a fence stands in between.
  bool has(NameHash name) const noexcept { return stripe(name).kept.load() > 0; }
  bool any() const noexcept { return all_.load() > 0; }
  std::uint64_t size() const noexcept { return all_.load(std::memory_order_relaxed); }

 private:
  struct Stripe {
    std::atomic<std::uint32_t> kept{0}, changes{0};
  };
  static constexpr std::size_t kStripes = std::size_t{1} << 14;

  Stripe& stripe(NameHash name) const noexcept { return stripes_[name.value & (kStripes - 1)]; }

  alignas(64) std::atomic<std::uint64_t> all_{0};
  const std::unique_ptr<Stripe[]> stripes_{new Stripe[kStripes]};
};

}  // namespace heatsink::cache
