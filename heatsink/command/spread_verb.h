// SPDX-License-Identifier: Apache-2.0
// Names the commands that the proxy carries out on spread keys, and the keys that a command writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::proxy {

// The meaning of a command for a key with copies, or a counter in parts.
enum class SpreadVerb : std::uint8_t {
  kNone,    // the key itself, or an error for a counter
  kGet,     // from a copy; the sum of the parts
  kIncr,    // one part
  kSet,     // part 0, and the others are deleted
  kDelete,  // all parts
  kExists,  // any part
};

inline SpreadVerb spread_verb(std::string_view command) {
  if (command == "get") return SpreadVerb::kGet;
  if (command == "incr" || command == "decr" || command == "incrby" || command == "decrby")
    return SpreadVerb::kIncr;
  if (command == "set") return SpreadVerb::kSet;
  if (command == "del" || command == "unlink") return SpreadVerb::kDelete;
  if (command == "exists") return SpreadVerb::kExists;
  return SpreadVerb::kNone;
}

// Keys with copies on nodes that a command writes.
struct SpreadKeyWritten {
  std::string name;
  std::size_t copies = 0;  // as its rule says
};
using SpreadKeysWritten = std::vector<SpreadKeyWritten>;

}  // namespace heatsink::proxy
