// SPDX-License-Identifier: Apache-2.0
// Compares names in any case, eight letters at a time in one machine word.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heatsink::resp {

// True if `text` equals `lower`, ignoring the case of ASCII letters. REQUIRES no capital letter in
// `lower`.
inline bool is_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char folded = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (folded != lower[i]) return false;
  }
  return true;
}

// A name's first and last eight bytes in lower case, and its length. That is all of a name of at
// most 16 bytes, as nearly all are. Two names are equal if these are equal and, for longer names,
// is_word() agrees.
struct FoldedName {
  static constexpr std::size_t kWholeMax = 16;  // bytes

  std::uint64_t head = 0;  // zero-padded
  std::uint64_t tail = 0;  // of a name longer than 8 bytes; else 0
  std::size_t size = 0;

  friend bool operator==(const FoldedName&, const FoldedName&) = default;

  explicit FoldedName(std::string_view name) : size(name.size()) {
    const char* p = name.data();
    if (size >= 8) {
      head = lower(load<std::uint64_t>(p));
      tail = size > 8 ? lower(load<std::uint64_t>(p + size - 8)) : 0;
    } else {
      head = lower(load_short(p, size));
    }
  }

 private:
  static_assert(std::endian::native == std::endian::little,
                "load_short() puts bytes where a load does");

  template <class Word>
  static Word load(const char* p) {
    Word word;
    std::memcpy(&word, p, sizeof word);
    return word;
  }

  // Loads fewer than 8 bytes without a loop: overlapping pieces agree where they overlap.
  static std::uint64_t load_short(const char* p, std::size_t n) {
    if (n >= 4) {
      const std::uint64_t end = load<std::uint32_t>(p + n - 4);
      return load<std::uint32_t>(p) | end << (8 * (n - 4));
    }
    if (n == 0) return 0;
    const auto byte = [p](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
    };
    return byte(0) | byte(n / 2) | byte(n - 1);
  }

  // Sets bit 5 of each byte in 'A' .. 'Z', eight bytes at once. Bit 7 of a byte of `from_a`
  // (`past_z`) means that the byte's low seven bits are >= 'A' (> 'Z'). Leaves non-ASCII bytes
  // unchanged.
  static std::uint64_t lower(std::uint64_t word) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    const std::uint64_t low7 = word & (0x7F * kOnes);
    const std::uint64_t from_a = low7 + (0x80 - 'A') * kOnes;
    const std::uint64_t past_z = low7 + (0x80 - 'Z' - 1) * kOnes;
    const std::uint64_t capital = from_a & ~past_z & ~word & (0x80 * kOnes);
    return word | capital >> 2;
  }
};

}  // namespace heatsink::resp
