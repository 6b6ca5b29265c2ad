// SPDX-License-Identifier: Apache-2.0
// Converts a RESP3 reply to what a RESP2 client of the same server would have received.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::resp {

// Facts that depend on the command, not on the types (taken from replies of Redis 5 .. 8 and
// Valkey).
struct Resp2Form {
  bool flat_pairs = false;   // an array of [member, score] pairs is one flat array: WITHSCORES
  bool null_arrays = false;  // a null stands for an array, "*-1", instead of a string, "$-1"
};

// REQUIRES one complete reply. Maps and sets become arrays, doubles strings, booleans numbers; the
// rest is copied. Nothing if it contains elements without a settled RESP2 form: errors inside,
// attributes, pushes, verbatim strings, big numbers, more than 32 levels. O(bytes).
std::optional<std::string> resp2_form(std::string_view resp3, const Resp2Form& form = {});

}  // namespace heatsink::resp
