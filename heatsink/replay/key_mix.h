// SPDX-License-Identifier: Apache-2.0
// Converts the numbers of keys to hashes for the recorder, and back.
#pragma once

#include <cstdint>

#include "heatsink/base/hash.h"

namespace heatsink::replay {

// A bijection of 64-bit numbers that scatters like a hash: two multiplications by odd constants
// between three xor-shifts by half a word (which are their own inverse). So no name is hashed
// twice, no two keys collide, and a hash in the recorder's summary leads back to its key without a
// table.
inline constexpr std::uint64_t kMixFirst = 0xBF58476D1CE4E5B9ULL;
inline constexpr std::uint64_t kMixSecond = 0x94D049BB133111EBULL;

// The inverse of an odd number modulo 2^64, by Newton's iteration: each round doubles the correct
// bits.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // correct in its three lowest bits
  for (int round = 0; round < 5; ++round) x *= 2 - odd * x;
  return x;
}

constexpr std::uint64_t fold(std::uint64_t x) { return x ^ (x >> 32); }

// Never 0: the recorder reserves that hash.
constexpr KeyHash hash_of_key(std::uint32_t key) {
  return KeyHash{fold(fold(fold(static_cast<std::uint64_t>(key) + 1) * kMixFirst) * kMixSecond)};
}

constexpr std::uint32_t key_of_hash(KeyHash hash) {
  const std::uint64_t x = fold(fold(fold(hash.value) * inverse(kMixSecond)) * inverse(kMixFirst));
  return static_cast<std::uint32_t>(x - 1);
}
static_assert(key_of_hash(hash_of_key(0)) == 0 &&
              key_of_hash(hash_of_key(4'000'000'000)) == 4'000'000'000);

}  // namespace heatsink::replay
