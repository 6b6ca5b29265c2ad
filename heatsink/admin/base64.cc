// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/base64.h"

#include <algorithm>
#include <cstdint>

namespace heatsink::admin {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

}  // namespace heatsink::admin
