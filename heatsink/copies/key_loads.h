// SPDX-License-Identifier: Apache-2.0
// Keeps, for single keys, the commands that the servers were spared or cost beside hits and misses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::copies {

// The read, and PTTL beside it.
inline constexpr std::int64_t kCommandsPerFill = 2;

// The load that is taken off one key, in commands: its local hits, which detection counts, plus
// of(). load_window.h says what counts; here it is by key, and only what names a key.
//
// Any thread may add. A lock per access: none of these is on the path of a hit. Covers the window
// of detection in kParts parts. Bounded: kStripes * kParts * kKeysMax keys; what finds no room is
// missing in the figure of its key, but not in the total.
class KeyLoads {
 public:
  static constexpr std::size_t kParts = 10;
  static constexpr std::size_t kStripes = 16;
  static constexpr std::size_t kKeysMax = 256;  // of a stripe, in a part of the window

  // `commands`: accesses of clients for which no command was sent, although no copy was there; or,
  // negative, commands of heatsink's own.
  void add(KeyHash key, std::int64_t commands);
  // The keeper, often: lets what is older than the window go.
  void move(TimePoint now, Nanos window);
  std::int64_t of(KeyHash key) const;
  // The time that of() covers: what is left of the oldest part goes all at once. 0 before move().
  // The keeper.
  Nanos covered(TimePoint now) const;
  // The commands that the servers were spared for a key: its hits, and of(). Both parts move in
  // steps of their own, so they are brought to the same time. `counted_seconds`: the time that
  // `hits` cover. The keeper.
  std::int64_t spared(KeyHash key, std::uint64_t hits, double counted_seconds, TimePoint now) const;

 private:
  struct Stripe {
    mutable std::mutex mutex;  // guards parts
    std::array<std::unordered_map<std::uint64_t, std::int64_t>, kParts> parts;
  };

  void clear(std::size_t part);

  std::array<Stripe, kStripes> stripes_;
  std::atomic<std::size_t> part_{0};
  // The keeper's.
  TimePoint begun_at_ = TimePoint::min();
  TimePoint part_begun_at_ = TimePoint::min();
  Nanos part_length_{0};
};

}  // namespace heatsink::copies
