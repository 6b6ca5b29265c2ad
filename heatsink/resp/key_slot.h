// SPDX-License-Identifier: Apache-2.0
// Calculates the cluster slot of a key.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::resp {

inline constexpr std::uint16_t kSlots = 16384;

// CRC16 (XMODEM: polynomial 0x1021, from 0), modulo kSlots, of the name, or of its hash tag: the
// bytes between the first '{' and the next '}', if there are any (Redis cluster specification,
// "Hash tags"). Pure, O(bytes).
std::uint16_t key_slot(std::string_view key);

}  // namespace heatsink::resp
