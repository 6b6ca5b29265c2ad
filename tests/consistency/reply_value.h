// SPDX-License-Identifier: Apache-2.0
// Reads the value of a key out of a reply, as the player writes it.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/resp/value.h"

namespace heatsink::consistency {

inline constexpr std::string_view kField = "f";       // of a hash: has the value
inline constexpr std::string_view kOtherField = "g";  // has none that counts
inline constexpr std::string_view kOtherValue = "of the other field";

// What a player wrote; anything else is a value that no player wrote. No player writes "", which is
// what LCS says of a missing key. Of HMGET, HGETEX, HVALS or HGETALL in RESP2: the value of kField.
std::uint64_t value_of(const resp::Value& reply);

}  // namespace heatsink::consistency
