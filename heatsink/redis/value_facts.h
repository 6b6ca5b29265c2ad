// SPDX-License-Identifier: Apache-2.0
// Asks for the type, encoding, size and time to live of a value, without reading it.
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

// Plain value. What was not told is empty: it may be forbidden, or the server too old.
struct ValueFacts {
  std::string type, encoding;  // "hash", "listpack"; type "none": there is no such key
  std::optional<std::uint64_t> value_bytes;  // STRLEN; of nothing else is it known
  std::optional<std::uint64_t>
      memory_bytes;  // MEMORY USAGE: with the key and the server's overhead
  std::optional<Nanos> ttl;
  bool never_expires = false;  // it is there, and has no TTL
  std::string refusal;         // the first error that is about us, not about the key; ""
  bool in_other_db = false;    // SELECT was refused: nothing can be known
};

// To be sent in this order on one connection: SELECT, TYPE, OBJECT ENCODING, MEMORY USAGE, STRLEN,
// PTTL. None is slow, whatever the value: MEMORY USAGE looks at five elements.
inline constexpr std::size_t kValueQuestions = 6;
std::array<std::vector<std::string>, kValueQuestions> value_questions(std::uint32_t db,
                                                                      std::string_view key);

// Takes the reply to a question, by its place. When SELECT is refused the others are of another
// database: they are left out. REQUIRES the order of the questions, `facts` new at the first.
void take_value_reply(std::size_t question, const resp::Value& reply, ValueFacts& facts);

}  // namespace heatsink::redis
