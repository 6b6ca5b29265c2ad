// SPDX-License-Identifier: Apache-2.0
// Makes one reply of the replies to the parts of a command.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/command/fan_out.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// The whole reply to one part.
struct PartReply {
  std::string_view wire;
  std::span<const std::uint32_t> positions;  // with kPositions: of its elements in the whole reply
};

// Returns the reply in wire form. The first error of a part is the result, except with kAnyOk. A
// reply that is not of the expected form becomes an error. `random` chooses among replies
// (kRandomOne). Pure; O(bytes).
std::string join_replies(Join join, std::span<const PartReply> parts, std::uint64_t random);

// The elements of an array or set in wire form; empty also for other replies.
std::vector<std::string_view> elements_of(std::string_view wire);

}  // namespace heatsink::proxy
