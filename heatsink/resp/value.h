// SPDX-License-Identifier: Apache-2.0
// Holds a reply as a tree, for the few replies that heatsink itself evaluates (HELLO, COMMAND,
// pushes, fills).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// Owns its data. Too slow for the request path, because each element allocates memory.
struct Value {
  enum class Type {
    kNull,
    kString /* bulk, verbatim without its "txt:" */,
    kSimple,
    kError,
    kInteger,
    kDouble,
    kBoolean,
    kBigNumber,
    kArray,
    kSet,
    kMap /* items: key, value, key, value */,
    kPush,
  };
  Type type = Type::kNull;
  std::string text;          // kString, kSimple, kError (without '-'), kBigNumber, kDouble as sent
  std::int64_t integer = 0;  // kInteger; kBoolean as 0 or 1
  std::vector<Value> items;  // kArray, kSet, kMap, kPush

  bool is_error() const { return type == Type::kError; }
  bool is_text() const { return type == Type::kString || type == Type::kSimple; }
  // The value of `key` in a kMap, or in the flat kArray of RESP2; null if there is none.
  const Value* find(std::string_view key) const;
};

enum class ValueStatus { kValue, kNeedMore, kError };

struct ValueLimits {
  std::size_t depth_max = 32;
  std::size_t bytes_max = 64 * 1024 * 1024;  // of the whole reply; more: kError
  std::size_t items_max =
      1024 * 1024;  // elements in the whole tree: a Value costs ~90 bytes, ":1" five
};

// Parses one value from the front of `bytes`; `consumed` gets its size in bytes (kValue only).
// Attributes are discarded. Memory grows with the bytes that have arrived, not with announced
// lengths. Stateless: after kNeedMore the next call starts from the front again. If a reply may
// come in many pieces, find its end with a ReplyScanner first.
ValueStatus parse_value(std::string_view bytes, Value& value, std::size_t& consumed,
                        const ValueLimits& limits = {});

// Whether the text of an error, without '-', says that the server does not have the command or the
// subcommand: it is too old, or the command was renamed. Redis before 7.0 writes "Unknown" before
// "subcommand".
bool is_unknown_command(std::string_view error);

}  // namespace heatsink::resp
