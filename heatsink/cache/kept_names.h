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
// any thread. 64 KiB.
//
// A change and a registration may run at the same time in two threads. Then
//   the registration: add(name), then judges whether the copy is still valid;
//   the change:       ends the copies of the name, then has(name);
// and one of the two sees the other, because all four are in the one order of sequentially
// consistent operations. If has() says no, the registration is refused.
class KeptNames {
 public:
  KeptNames() = default;
  KeptNames(const KeptNames&) = delete;

  // A worker's table has the name from now on, and no more. One count per table.
  void add(NameHash name) noexcept {
    all_.fetch_add(1);
    counter(name).fetch_add(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void remove(NameHash name) noexcept {
    counter(name).fetch_sub(1);
    all_.fetch_sub(1);
  }

  // REQUIRES, for the order above, that what the change did before is a sequentially consistent
  // read-modify-write, or that a fence stands in between.
  bool has(NameHash name) const noexcept { return counter(name).load() > 0; }
  bool any() const noexcept { return all_.load() > 0; }
  std::uint64_t size() const noexcept { return all_.load(std::memory_order_relaxed); }

 private:
  using Counter = std::atomic<std::uint32_t>;
  static constexpr std::size_t kCounters = std::size_t{1} << 14;

  Counter& counter(NameHash name) const noexcept { return counters_[name.value & (kCounters - 1)]; }

  alignas(64) std::atomic<std::uint64_t> all_{0};
  const std::unique_ptr<Counter[]> counters_{new Counter[kCounters]()};
};

}  // namespace heatsink::cache
