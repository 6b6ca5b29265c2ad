// SPDX-License-Identifier: Apache-2.0
// Parses the protocol's decimal numbers: lengths, counts and integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace heatsink::resp {

inline constexpr std::size_t kDecimalBytesMax = 20;  // "-9223372036854775808"

// As strict as Redis's string2ll (util.c): "0", or an optional '-' and digits that do not begin
// with 0, within int64. No '+', no blanks, no "-0".
constexpr std::optional<std::int64_t> parse_decimal(std::string_view text) {
  if (text.empty() || text.size() > kDecimalBytesMax) return std::nullopt;
  if (text == "0") return 0;
  const bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text[0] == '0') return std::nullopt;
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t limit = negative ? kMax + 1 : kMax;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (limit - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return static_cast<std::int64_t>(negative ? ~value + 1 : value);
}

// The fast path for length lines: up to kQuickDigitsMax digits, CR, and one more byte. Returns the
// number and moves `at` after that byte. For anything else, even if valid (negative, longer,
// incomplete), returns -1 and leaves `at`: use the slow path.
inline constexpr int kQuickDigitsMax = 9;

inline std::int64_t quick_length(const char*& at, const char* end) {
  if (end - at < 3) return -1;
  if (at[1] == '\r' && at[0] >= '0' && at[0] <= '9') {  // nearly all of them
    at += 3;
    return at[-3] - '0';
  }
  const char* const stop = std::min(end - 1, at + kQuickDigitsMax + 1);  // the CR must be before it
  const char* p = at;
  std::int64_t value = 0;
  for (; p < stop && *p >= '0' && *p <= '9'; ++p) value = value * 10 + (*p - '0');
  if (p >= stop || *p != '\r' || p == at || (*at == '0' && p - at > 1)) return -1;
  at = p + 2;
  return value;
}

}  // namespace heatsink::resp
