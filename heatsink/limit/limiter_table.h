// SPDX-License-Identifier: Apache-2.0
// A limiter for each of many keys, in a fixed number of places.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// A key that is not there takes a place: an empty one, or that of the key with most left. A bucket
// that is full says no more than one that has never been asked, so such a key loses nothing; and
// since a key at its limit has nothing left, whoever asks with new keys all the time never makes
// room for it. Only where more keys than fit are short of tokens at once does one of them get up to
// a burst that it has had already.
//
// Keys are hashes whose bits are all alike random; two of one hash share a limiter. A key may stand
// in kWays places. Any number of threads, without a lock; a thread that asks while a place changes
// hands may ask in the other key's name, once. All memory is taken at the beginning: about 64 bytes
// a place and the limiter (a bucket 64, a sliding window 700). For a key that is there about what
// its limiter costs, once more (bench_limit).
class LimiterTable {
 public:
  static constexpr std::size_t kWays = 8;

  // REQUIRES options that make_limiter() takes. `places` is rounded up to a power of two of kWays.
  LimiterTable(const LimiterOptions& options, std::size_t places);

  // The key's; it takes a place if it has none.
  Limiter& of(std::uint64_t key, TimePoint now) noexcept;
  // Null: it has no place.
  Limiter* find(std::uint64_t key) noexcept;
  void drop(std::uint64_t key) noexcept;  // its place becomes empty

  std::size_t places() const { return places_.size(); }

 private:
  struct Place {
    std::atomic<std::uint64_t> key{kEmpty};
    std::unique_ptr<Limiter> limiter;
  };
  static constexpr std::uint64_t kEmpty = 0;

  Place* ways_of(std::uint64_t key) noexcept;
  Place* find_place(std::uint64_t key) noexcept;
  static Place& roomiest(Place* ways, TimePoint now) noexcept;

  std::vector<Place> places_;
  std::size_t mask_;  // of the sets of ways
};

}  // namespace heatsink::limit
