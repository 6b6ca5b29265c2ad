// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/base64.h"

#include <algorithm>
#include <cstdint>

namespace heatsink {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int value_of(char digit) {
  if (digit >= 'A' && digit <= 'Z') return digit - 'A';
  if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
  if (digit >= '0' && digit <= '9') return digit - '0' + 52;
  return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t triple = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      triple = (triple << 8) | (i < taken ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      out += digit <= taken ? kDigits[(triple >> (18 - 6 * digit)) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned held = 0;  // of `bits`
  for (const char digit : text) {
    const int value = value_of(digit);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 255);
    bits &= (1U << held) - 1;
  }
  if (bits != 0) return std::nullopt;  // base64() pads with zero bits
  return out;
}

}  // namespace heatsink
