// SPDX-License-Identifier: Apache-2.0
// Recognises GET of one key, and SET plain or with a time to live, as client libraries write them,
// without a parser.
#pragma once

#include <array>
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

// Views of the request's bytes.
struct PlainSet {
  static constexpr std::size_t kArgsMax = 5;

  std::size_t size = 0;  // bytes of the request; 0: it is none
  std::size_t count = 0;
  std::array<std::string_view, kArgsMax> args;  // `count` of them: SET, key, value, [EX | PX, time]
};

// False: no plain_set() begins here. For requests that are not, nearly free.
inline bool may_be_plain_set(std::string_view bytes) {
  constexpr std::size_t kName = std::string_view("*3\r\n$3\r\n").size();
  return bytes.size() > kName && (bytes[1] == '3' || bytes[1] == '5') &&
         (bytes[kName] | 0x20) == 's';
}

// The first request in `bytes` if it is a complete `*3 $3 SET $n key $m value`, or `*5` with EX or
// PX and a time behind that (SET, EX, PX in capitals or in small letters). Its reply is +OK or an
// error. Size 0: anything else, valid or not. Like the server it does not check the two bytes after
// an argument, nor the time. No allocation, about 40 instructions.
inline PlainSet plain_set(std::string_view bytes) {
  constexpr std::string_view kArray = "*3\r\n$3\r\n", kCapitals = "SET\r\n", kSmall = "set\r\n";
  constexpr std::size_t kHead = kArray.size() + kCapitals.size();
  PlainSet set;
  if (bytes.size() <= kHead || bytes[0] != '*' || (bytes[1] != '3' && bytes[1] != '5')) return set;
  const char* const name = bytes.data() + kArray.size();
  // Comparisons of constant size, which compile to one or two loads each.
  if (std::memcmp(bytes.data() + 2, kArray.data() + 2, kArray.size() - 2) != 0) return set;
  if (std::memcmp(name, kCapitals.data(), kCapitals.size()) != 0 &&
      std::memcmp(name, kSmall.data(), kSmall.size()) != 0)
    return set;
  const char* at = bytes.data() + kHead;
  const char* const end = bytes.data() + bytes.size();
  const auto count = static_cast<std::size_t>(bytes[1] - '0');
  set.args[0] = {name, 3};
  for (std::size_t i = 1; i < count; ++i) {
    if (at == end || *at++ != '$') return set;
    const std::int64_t length = quick_length(at, end);
    if (length < 0 || end - at < length + 2) return set;
    set.args[i] = {at, static_cast<std::size_t>(length)};
    at += length + 2;
  }
  if (set.args[1].size() > kPlainKeyMax) return set;
  if (count == PlainSet::kArgsMax) {
    const std::string_view unit = set.args[3];
    if (unit != "EX" && unit != "PX" && unit != "ex" && unit != "px") return set;
  }
  set.count = count;
  set.size = static_cast<std::size_t>(at - bytes.data());
  return set;
}

}  // namespace heatsink::resp
