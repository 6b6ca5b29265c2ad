// SPDX-License-Identifier: Apache-2.0
// Turns a key's number in a workload into its hash, and back.
#pragma once

#include <cstdint>

namespace heatsink::bench {

inline constexpr std::uint64_t kHashOffset = 0x9E3779B97F4A7C15ULL;

// A step of SplitMix64. It is a bijection, so policies that keep arrays by number need no hash
// table. Without the offset, the hash of 0 would be 0, which every sample contains.
constexpr std::uint64_t hash_of(std::uint32_t number) {
  std::uint64_t z = number + kHashOffset;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

constexpr std::uint32_t number_of(std::uint64_t hash) {
  std::uint64_t z = hash;
  z = (z ^ (z >> 31U) ^ (z >> 62U)) * 0x319642B2D24D8EC3ULL;
  z = (z ^ (z >> 27U) ^ (z >> 54U)) * 0x96DE1B173F119089ULL;
  return static_cast<std::uint32_t>((z ^ (z >> 30U) ^ (z >> 60U)) - kHashOffset);
}
static_assert(number_of(hash_of(0)) == 0 && number_of(hash_of(0xDEADBEEF)) == 0xDEADBEEF);

}  // namespace heatsink::bench
