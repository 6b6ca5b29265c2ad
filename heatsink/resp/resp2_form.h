// SPDX-License-Identifier: Apache-2.0
// Converts a RESP3 reply to what a RESP2 client of the same server would have received.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::resp {

// What the types do not tell and the command does (Redis 5 .. 8, Valkey; read off the servers'
// replies).
struct Resp2Form {
  bool flat_pairs = false;   // an array of [member, score] pairs is one flat array: WITHSCORES
  bool null_arrays = false;  // a null stands for an array, "*-1", and not for a string, "$-1"
};

// REQUIRES one whole reply. Maps and sets become arrays, doubles strings, booleans numbers; the
// rest is copied. None if it holds what RESP2 has no settled form for: errors inside, attributes,
// pushes, verbatim strings, big numbers, more than 32 levels. O(bytes).
std::optional<std::string> resp2_form(std::string_view resp3, const Resp2Form& form = {});

}  // namespace heatsink::resp
