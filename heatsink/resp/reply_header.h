// SPDX-License-Identifier: Apache-2.0
// Decodes the type byte of a reply element: its form, and the numbers that may follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {

enum class Shape : std::uint8_t {
  kText,     // a line of any length: + - , (
  kScalar,   // a short line that is the whole element: : _ #
  kBytes,    // a length line, that many bytes, CRLF: $ ! =
  kItems,    // a count line, that many elements: * ~ >
  kPairs,    // a count line, that many pairs of elements: % |
  kInvalid,  // not a type, or one of streamed RESP3 (";", "."), which no server sends
};

constexpr Shape shape_of(char type) {
  switch (type) {
    case '+':
    case '-':
    case ',':
    case '(':
      return Shape::kText;
    case ':':
    case '_':
    case '#':
      return Shape::kScalar;
    case '$':
    case '!':
    case '=':
      return Shape::kBytes;
    case '*':
    case '~':
    case '>':
      return Shape::kItems;
    case '%':
    case '|':
      return Shape::kPairs;
    default:
      return Shape::kInvalid;
  }
}

inline constexpr std::size_t kHeaderBytesMax =
    64;  // of a line that is not kText, without type and CRLF
inline constexpr std::size_t kVerbatimPrefixBytes = 4;  // "txt:"
inline constexpr std::int64_t kPairsMax = std::int64_t{1}
                                          << 61;  // so that twice as many elements can be counted

// Whether a line of form kBytes, kItems or kPairs may announce `n`. Only "$-1" and "*-1" are nulls.
constexpr bool may_announce(char type, std::int64_t n) {
  if (n == -1) return type == '$' || type == '*';
  if (type == '=') return n >= static_cast<std::int64_t>(kVerbatimPrefixBytes);
  return n >= 0 && (shape_of(type) != Shape::kPairs || n <= kPairsMax);
}

constexpr bool is_scalar(char type, std::string_view line) {
  switch (type) {
    case ':':
      return parse_decimal(line).has_value();
    case '#':
      return line == "t" || line == "f";
    default:
      return line.empty();
  }
}

}  // namespace heatsink::resp
