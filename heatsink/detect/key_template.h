// SPDX-License-Identifier: Apache-2.0
// Replaces the varying parts of a key's name by stars: "user:1001:cart" becomes "user:*:cart".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heatsink::detect {

// Returns a pattern (key_pattern.h) that matches the key, with a star for each identifier.
// Identifiers are: numbers, even inside a word ("user42", "v2"); UUIDs; words of at least eight
// hexadecimal digits, or of at least sixteen letters and digits, that contain digits (hashes,
// ULIDs, random tokens). Numbers joined by dots or hyphens are one: 2024-11-05, 10.0.0.7. Bytes
// with a meaning in patterns are escaped. Pure; thread-safe; O(bytes).
//
// Words of letters only are never identifiers, even if all letters are hexadecimal: "facade",
// "deadbeef" and "user" stay. A name folded by mistake hides a key, while an unfolded one only adds
// a row.
//
// Only the beginning of a key longer than kTemplateKeyBytes is folded, and a star stands for the
// rest, so that a template has a limit.
std::string key_template(std::string_view key);

inline constexpr std::size_t kTemplateKeyBytes = 128;

// A template in a buffer of its own: no allocation, for the counting of each access
// (template_counter.h).
//
// A template does not depend on the values of digits: "user:1" and "user:2" always share one. The
// counter relies on it.
class KeyTemplate {
 public:
  explicit KeyTemplate(std::string_view key) noexcept;

  std::string_view text() const { return {text_, size_}; }

 private:
  std::size_t step(std::string_view rest) noexcept;
  void identifier() noexcept;
  bool joined_to_identifier() const noexcept;
  void numbers_in(std::string_view word) noexcept;
  void literal(char c) noexcept;
  void star() noexcept;
  void put(char c) noexcept { text_[size_++] = c; }

  char text_[2 * kTemplateKeyBytes + 1];  // each byte may be escaped
  std::size_t size_ = 0;
  std::size_t identifier_end_ = 0;  // of the last one, in text_; 0: there was none
  std::size_t star_end_ = 0;        // of the last star that is not escaped; 0: there was none
};

}  // namespace heatsink::detect
