// SPDX-License-Identifier: Apache-2.0
// Calculates the cluster slot of a key.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::resp {

inline constexpr std::uint16_t kSlots = 16384;

// The bytes between the first '{' and the next '}'; "": none (Redis cluster specification, "Hash
// tags"). It decides the slot. Pure, O(bytes).
std::string_view hash_tag(std::string_view key);

// CRC16 (XMODEM: polynomial 0x1021, from 0), modulo kSlots, of the hash tag, or of the whole name
// if it has none. Pure, O(bytes).
std::uint16_t key_slot(std::string_view key);

}  // namespace heatsink::resp
