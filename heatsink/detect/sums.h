// SPDX-License-Identifier: Apache-2.0
// Adds up counts of any size: sums stop at 2^64 - 1.
#pragma once

#include <cstdint>

namespace heatsink::detect {

// Wide enough for any sum of counts, and for modular arithmetic. (__extension__: -Wpedantic.)
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

constexpr std::uint64_t capped_to_64_bits(Wide n) {
  return n > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(n);
}

constexpr void add_capped(std::uint64_t& to, std::uint64_t n) {
  to = capped_to_64_bits(Wide{to} + n);
}

}  // namespace heatsink::detect
