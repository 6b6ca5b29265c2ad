// SPDX-License-Identifier: Apache-2.0
// Names the keys in which copies of a key, its layout, and the parts of a split counter are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heatsink::spread {

// Copies of one key, or parts of one counter.
inline constexpr std::size_t kPiecesMax = 64;

// All are pure. Tags come from resp::tag_of_slot(), so a name is in exactly the slot that is asked
// for, also if the key has a hash tag of its own. Two keys never share a name.
std::string copy_name(std::uint16_t slot, std::string_view key);  // "{tag}:hs:copy:key"
std::string layout_name(std::string_view key);                    // in the slot of the key
// Part 0 is the key itself, so an existing counter can be split, and its value counts.
std::string part_name(std::string_view key, std::size_t part);

// The first bits of `index` in reverse order, as a fraction of `whole` (a power of 2): 0, 1/2, 1/4,
// 3/4, 1/8 ... Each further one divides a largest gap (van der Corput, 1935).
std::uint16_t van_der_corput(std::size_t index, std::uint16_t whole);

// The slot of a part. It does not depend on the number of parts: a counter with more parts keeps
// those that it has. REQUIRES part < kPiecesMax.
std::uint16_t part_slot(std::uint16_t key_slot, std::size_t part);

// A name that this room makes. Clients may use such names, but the proxy does not spread them.
bool is_own_name(std::string_view name);

}  // namespace heatsink::spread
