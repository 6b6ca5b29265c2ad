// SPDX-License-Identifier: Apache-2.0
// Asks for the type, encoding, size and time to live of a value, without reading the value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// Plain value. A missing answer leaves its field empty: the command is forbidden, or the server is
// too old.
struct ValueFacts {
  std::string type, encoding;                // "hash", "listpack"; type "none": no such key
  std::optional<std::uint64_t> value_bytes;  // STRLEN; only strings have it
  std::optional<std::uint64_t>
      memory_bytes;  // MEMORY USAGE: includes the key and the server's overhead
  std::optional<Nanos> ttl;
  bool never_expires = false;  // the key exists and has no TTL
  std::string refusal;         // the first error that is not about the key; ""
  bool in_other_db = false;    // the server refused SELECT: nothing is known
};

// The questions, in the order in which one connection must send them: SELECT, TYPE, OBJECT
// ENCODING, MEMORY USAGE, STRLEN, PTTL. All are fast for any value: MEMORY USAGE samples five
// elements.
inline constexpr std::size_t kValueQuestions = 6;
std::array<std::vector<std::string>, kValueQuestions> value_questions(std::uint32_t db,
                                                                      std::string_view key);

// Processes the reply to the question with this index. After a refused SELECT the other replies
// concern another database and are ignored. REQUIRES replies in the order of the questions, and a
// new `facts` for the first one.
void take_value_reply(std::size_t question, const resp::Value& reply, ValueFacts& facts);

}  // namespace heatsink::redis
