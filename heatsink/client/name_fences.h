// SPDX-License-Identifier: Apache-2.0
// Keeps, per key name, the time before which no load is trusted, and the number of writes in
// flight.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::client {

// Of the library, which may load a name that has no copy yet. (A proxy's fences are those of the
// keys that have copies: cache/fences.h.) Striped by the hash of the name. Names that share a
// stripe cost each other hits, never correctness. Any thread; lock-free; 4 MiB, of which only used
// parts take memory.
class NameFences {
 public:
  NameFences();

  // A write of the name is about to be sent.
  void write_begins(NameHash name) noexcept;

  // The reply has arrived, or its outcome will stay unknown. REQUIRES that `now` was read after the
  // reply: a load that saw the value before the write was sent before `now`.
  void write_ends(NameHash name, TimePoint now) noexcept;

  // A caller has been shown, or is about to be shown, what the server replied at `now` or earlier.
  void raise(NameHash name, TimePoint now) noexcept;

  TimePoint fence(NameHash name) const noexcept;
  bool write_in_flight(NameHash name) const noexcept;

 private:
  struct Stripe {
    std::atomic<std::int64_t> fence{0};
    std::atomic<std::int64_t> writes_in_flight{0};
  };
  static constexpr std::size_t kStripes = 1 << 18;

  Stripe& stripe(NameHash name) const noexcept { return stripes_[name.value & (kStripes - 1)]; }

  std::unique_ptr<Stripe[]> stripes_;
};

}  // namespace heatsink::client
