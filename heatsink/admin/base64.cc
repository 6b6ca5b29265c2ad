// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/base64.h"

#include <algorithm>
#include <cstdint>

namespace heatsink::admin {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  std::size_t held = 0;  // of `bits`
  for (const char digit : text.substr(0, text.find('='))) {
    bits = (bits << 6) | static_cast<std::uint32_t>(kDigits.find(digit) & 63);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 255);
  }
  // Whatever is wrong with the text, its bytes are written otherwise.
  if (base64(out) != text) return std::nullopt;
  return out;
}

}  // namespace heatsink::admin
