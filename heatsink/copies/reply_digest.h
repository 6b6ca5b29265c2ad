// SPDX-License-Identifier: Apache-2.0
// A reply as a number, to tell whether two are the same without keeping either.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::copies {

enum class ReplyOrder : std::uint8_t {
  kMatters,
  kFree,  // of a set or a hash: the server may change it though nobody has written
};

// Of one whole reply in RESP3 wire form. Equal replies have equal digests; different ones differ
// but for one in 2^64. kFree: likewise for replies with the same elements (of a map: pairs) in any
// order. O(bytes); no allocation unless aggregates stand in each other.
std::uint64_t reply_digest(std::string_view wire, ReplyOrder order) noexcept;

}  // namespace heatsink::copies
