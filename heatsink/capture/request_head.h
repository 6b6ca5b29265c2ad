// SPDX-License-Identifier: Apache-2.0
// Inside capture: finds the next request for a capture that begins in the middle of a stream.
#pragma once

#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::capture {

enum class Head {
  kYes,
  kMaybe,  // the bytes end inside a possible head
  kNo,
};

// Whether the bytes begin with "*<n>\r\n$<m>\r\n<name>\r\n", where the name is a known command, `m`
// its length, and `n` a number of arguments that it accepts. Binary data does not match by chance;
// text that quotes the protocol may.
Head request_head(std::string_view bytes, const resp::CommandTable& table);

// Whether the command accepts this number of arguments (its name included).
bool takes(const resp::Command& command, std::size_t args);

}  // namespace heatsink::capture
