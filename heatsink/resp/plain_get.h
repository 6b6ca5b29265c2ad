// SPDX-License-Identifier: Apache-2.0
// Recognizes GET of one key, as client libraries write it, without a parser.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {

inline constexpr std::size_t kPlainKeyMax = 1024;  // longer ones are left to RequestParser

// How many of `bytes` are the first request, if that is `*2 $3 GET $n key` (GET in capitals or in
// small letters) and all of it is there; `key` is then a view of them. 0: it is something else,
// which says nothing about whether it is right. Like the server it does not look at the two bytes
// behind an argument. No allocation, about 20 instructions.
inline std::size_t plain_get(std::string_view bytes, std::string_view& key) {
  constexpr std::string_view kArray = "*2\r\n$3\r\n", kCapitals = "GET\r\n$", kSmall = "get\r\n$";
  constexpr std::size_t kHead = kArray.size() + kCapitals.size();
  if (bytes.size() < kHead) return 0;
  const char* const name = bytes.data() + kArray.size();
  // Each of these comparisons is of a constant size, which a compiler does with one or two loads.
  if (std::memcmp(bytes.data(), kArray.data(), kArray.size()) != 0) return 0;
  if (std::memcmp(name, kCapitals.data(), kCapitals.size()) != 0 &&
      std::memcmp(name, kSmall.data(), kSmall.size()) != 0)
    return 0;
  const char* at = bytes.data() + kHead;
  const char* const end = bytes.data() + bytes.size();
  const std::int64_t length = quick_length(at, end);
  if (length < 0 || length > static_cast<std::int64_t>(kPlainKeyMax) || end - at < length + 2)
    return 0;
  key = {at, static_cast<std::size_t>(length)};
  return static_cast<std::size_t>(at + length + 2 - bytes.data());
}

}  // namespace heatsink::resp
