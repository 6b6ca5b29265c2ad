// SPDX-License-Identifier: Apache-2.0
// Keeps, per key name, the time before which no fill is trusted, and the number of writes in
// flight.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::cache {

// Striped by the hash of the name without the database: a write in any database invalidates the
// name in all of them. Names that share a stripe cost each other hits, never correctness. Any
// thread; lock-free; 4 MiB, of which
// only used parts take memory. With 65 536 copies a raised stripe ends one in four other copies.
class Fences {
 public:
  Fences();

  // The proxy is about to forward a write of the name.
  void write_begins(NameHash name) noexcept;

  // The reply has arrived, or its outcome will stay unknown. REQUIRES that `now` was read after the
  // reply: a fill that saw the value before the write was sent before `now`. Call it before the
  // reply goes to the client.
  void write_ends(NameHash name, TimePoint now) noexcept;

  // The proxy has shown a client, or is about to show it, what the server replied at `now` or
  // earlier.
  void raise(NameHash name, TimePoint now) noexcept;

  // Like raise(), for a command whose keys are unknown. It ends no copy: the server pushes
  // invalidations for the names concerned, and a barrier waits for them. But readers that ask later
  // may not join a fill that was sent earlier.
  void raise_unknown(TimePoint now) noexcept { raise(unknown_, now); }

  // Like raise(), for all names: ends every copy that was requested at `now` or earlier.
  void raise_all(TimePoint now) noexcept { raise(all_, now); }

  TimePoint fence(NameHash name) const noexcept;
  // A reader that joins a fill now needs one that was sent after this time.
  TimePoint fence_to_join(NameHash name) const noexcept;
  bool write_in_flight(NameHash name) const noexcept;
  // Begins to load what the three above read.
  void load(NameHash name) const noexcept { __builtin_prefetch(&stripe(name)); }

 private:
  struct Stripe {
    std::atomic<std::int64_t> fence{0};
    std::atomic<std::int64_t> writes_in_flight{0};
  };
  static constexpr std::size_t kStripes = 1 << 18;

  static void raise(std::atomic<std::int64_t>& fence, TimePoint now) noexcept;
  Stripe& stripe(NameHash name) const noexcept { return stripes_[name.value & (kStripes - 1)]; }

  std::unique_ptr<Stripe[]> stripes_;
  alignas(64) std::atomic<std::int64_t> unknown_{0};
  alignas(64) std::atomic<std::int64_t> all_{0};
};

}  // namespace heatsink::cache
