// SPDX-License-Identifier: Apache-2.0
// A hash of a reply, to compare two replies without storing either.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::copies {

enum class ReplyOrder : std::uint8_t {
  kMatters,
  kFree,  // a set or a hash: the server may reorder it without a write
};

// For one whole reply in RESP3 wire form. Equal replies have equal digests; different ones collide
// with probability 2^-64. kFree: the order of the elements (of a map: pairs) does not matter.
// O(bytes); allocates only for nested aggregates.
std::uint64_t reply_digest(std::string_view wire, ReplyOrder order) noexcept;

}  // namespace heatsink::copies
