// SPDX-License-Identifier: Apache-2.0
// Calculates the cluster slot of a key, and gives a hash tag for each slot, to name keys that are
// in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatsink::resp {

inline constexpr std::uint16_t kSlots = 16384;

// The bytes between the first '{' and the next '}'; "": none (Redis cluster specification, "Hash
// tags"). It decides the slot. Pure, O(bytes).
std::string_view hash_tag(std::string_view key);

// CRC16 (XMODEM: polynomial 0x1021, from 0), modulo kSlots, of the hash tag, or of the whole name
// if it has none. Pure, O(bytes).
std::uint16_t key_slot(std::string_view key);

// A hash tag that leads to the slot. At most four lower case letters and digits, without braces.
// The first call makes the table, which takes some 10 ms and 80 KiB for the life of the process;
// then O(1). Any thread.
std::string_view tag_of_slot(std::uint16_t slot);

// "{tag}name", which is in the slot.
std::string name_in_slot(std::uint16_t slot, std::string_view name);

}  // namespace heatsink::resp
