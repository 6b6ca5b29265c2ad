// SPDX-License-Identifier: Apache-2.0
// Inside capture: finds the next request for a capture that begins in the middle of a stream.
#pragma once

#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::capture {

enum class Head {
  kYes,
  kMaybe,  // so far; the bytes end in the middle of it
  kNo,
};

// Whether the bytes begin with "*<n>\r\n$<m>\r\n<name>\r\n" where the name is a command's, `m` its
// length, and `n` a number of arguments that it takes. Binary data does not do so by chance; text
// that quotes the protocol may.
Head request_head(std::string_view bytes, const resp::CommandTable& table);

// What a command of the table says of the number of arguments (its name among them).
bool takes(const resp::Command& command, std::size_t args);

}  // namespace heatsink::capture
