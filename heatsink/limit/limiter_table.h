// SPDX-License-Identifier: Apache-2.0
// Keeps a limiter for each of many keys, in fixed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/limit/carry_over.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// A new key takes an empty entry, or replaces the key with most tokens left. A full bucket holds no
// information, so the replaced key loses nothing. A key at its limit has no tokens left, so a
// client cannot push it out by using many new keys. Only if more keys than fit are short of tokens
// at the same time, a key may get up to one burst twice.
//
// Keys are hashes with uniformly random bits; keys that differ in the lowest bit only share a
// limiter. A key can be in one of kWays entries. Any number of threads may call, without a lock. A
// thread that calls while an entry gets another key may use that key's limiter, once. All memory is
// allocated at the start: about 64 bytes per entry, and the limiter (a bucket 64, a sliding window
// 700). A look-up costs about as much as a call of the limiter (bench_limit).
class LimiterTable {
 public:
  static constexpr std::size_t kWays = 8;

  // REQUIRES options that make_limiter() accepts. `entries` is rounded up to kWays times a power of
  // two.
  LimiterTable(const LimiterOptions& options, std::size_t entries);

  // The key's limiter. A key without an entry takes one.
  Limiter& of(std::uint64_t key, TimePoint now) noexcept;
  // The key's limiter; null if the key has no entry.
  Limiter* find(std::uint64_t key) noexcept;
  void drop(std::uint64_t key) noexcept;  // empties its entry

  // Takes the keys of `old` over, with what each has used. REQUIRES that this table is new.
  void carry_from(LimiterTable& old, const CarryOver& carry, TimePoint now) noexcept;

  std::size_t entries() const { return entries_.size(); }

 private:
  struct Entry {
    std::atomic<std::uint64_t> key{kEmpty};
    std::unique_ptr<Limiter> limiter;
  };
  static constexpr std::uint64_t kEmpty = 0;

  Entry* ways_of(std::uint64_t key) noexcept;
  Entry* find_entry(std::uint64_t key) noexcept;
  // An entry, and the key that it had when it was chosen. Null: all ways are claimed.
  struct Victim {
    Entry* entry = nullptr;
    std::uint64_t key = kEmpty;
  };
  static Victim roomiest(Entry* ways, TimePoint now) noexcept;
  // Gives `key` an entry, unless another thread does so, or has done so.
  void place(std::uint64_t key, TimePoint now) noexcept;

  std::vector<Entry> entries_;
  std::size_t mask_;  // of the sets of ways
};

}  // namespace heatsink::limit
