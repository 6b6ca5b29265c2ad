// SPDX-License-Identifier: Apache-2.0
// Keeps for each key name the time before which no fill can be trusted, and the writes in flight.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::cache {

// Striped by the hash of the name (no database: a write in any database invalidates the name
// everywhere). Two names that share a stripe cost each other hits, never correctness. Any thread;
// lock-free; 1 MiB.
class Fences {
 public:
  Fences();

  // A write of the name is about to be forwarded.
  void write_begins(NameHash name) noexcept;

  // Its reply has come (or its outcome will never be known). `now` was read after the reply was: a
  // fill that can have seen the value before the write was sent before `now`. Call it before the
  // reply is handed on.
  void write_ends(NameHash name, TimePoint now) noexcept;

  // A reader has been (or is about to be) shown what the server said at `now` or earlier.
  void raise(NameHash name, TimePoint now) noexcept;

  // Likewise, and nobody can say of which names. Copies are left alone, since the server tells
  // which of them it means (a barrier waits for that); but an answer that is already under way to
  // those who wait for it is for them alone.
  void raise_unknown(TimePoint now) noexcept { raise(unknown_, now); }

  TimePoint fence(NameHash name) const noexcept;
  // What a reader that joins a fill now must not be behind.
  TimePoint fence_to_join(NameHash name) const noexcept;
  bool write_in_flight(NameHash name) const noexcept;

 private:
  struct Stripe {
    std::atomic<std::int64_t> fence{0};
    std::atomic<std::int64_t> writes_in_flight{0};
  };
  static constexpr std::size_t kStripes = 1 << 16;

  static void raise(std::atomic<std::int64_t>& fence, TimePoint now) noexcept;
  Stripe& stripe(NameHash name) const noexcept { return stripes_[name.value & (kStripes - 1)]; }

  std::unique_ptr<Stripe[]> stripes_;
  alignas(64) std::atomic<std::int64_t> unknown_{0};
};

}  // namespace heatsink::cache
