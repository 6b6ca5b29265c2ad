// SPDX-License-Identifier: Apache-2.0
// Recognises GET of one key, as client libraries write it, without a parser.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {

// False: no plain_get() begins here. For requests that are not, nearly free.
inline bool may_be_plain_get(std::string_view bytes) {
  constexpr std::size_t kName = std::string_view("*2\r\n$3\r\n").size();
  return bytes.size() > kName && bytes[1] == '2' && (bytes[kName] | 0x20) == 'g';
}

inline constexpr std::size_t kPlainKeyMax = 1024;  // longer keys are left to RequestParser

// The length of the first request in `bytes` if it is a complete `*2 $3 GET $n key` (GET in
// capitals or in small letters); `key` becomes a view of its key. 0: anything else, valid or not.
// Like the server it does not check the two bytes after an argument. No allocation, about 20
// instructions.
inline std::size_t plain_get(std::string_view bytes, std::string_view& key) {
  constexpr std::string_view kArray = "*2\r\n$3\r\n", kCapitals = "GET\r\n$", kSmall = "get\r\n$";
  constexpr std::size_t kHead = kArray.size() + kCapitals.size();
  if (bytes.size() < kHead) return 0;
  const char* const name = bytes.data() + kArray.size();
  // Comparisons of constant size, which compile to one or two loads each.
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
