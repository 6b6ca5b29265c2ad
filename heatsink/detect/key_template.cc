// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_template.h"

#include <algorithm>
#include <cstddef>

namespace heatsink::detect {
namespace {

constexpr std::size_t kHexWordMin = 8;
constexpr std::size_t kTokenMin = 16;
constexpr std::string_view kUuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

// Not <cctype>: names are bytes, and the locale must not change the result.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_in_word(char c) { return is_digit(c) || is_letter(c); }
bool is_joint(char c) { return c == '.' || c == '-'; }

std::size_t word_length(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_in_word);
  return static_cast<std::size_t>(end - text.begin());
}

bool begins_with_uuid(std::string_view text) {
  if (text.size() < kUuidForm.size()) return false;
  for (std::size_t i = 0; i < kUuidForm.size(); ++i)
    if (kUuidForm[i] == '-' ? text[i] != '-' : !is_hex(text[i])) return false;
  return text.size() == kUuidForm.size() || !is_in_word(text[kUuidForm.size()]);
}

bool is_identifier(std::string_view word) {
  if (std::none_of(word.begin(), word.end(), is_digit)) return false;
  if (std::all_of(word.begin(), word.end(), is_digit) || word.size() >= kTokenMin) return true;
  return word.size() >= kHexWordMin && std::all_of(word.begin(), word.end(), is_hex);
}

}  // namespace

KeyTemplate::KeyTemplate(std::string_view key) noexcept {
  const bool is_cut = key.size() > kTemplateKeyBytes;
  for (key = key.substr(0, kTemplateKeyBytes); !key.empty();) key.remove_prefix(step(key));
  if (is_cut && star_end_ != size_) star();
}

// Returns the number of bytes of `rest` that it has consumed.
std::size_t KeyTemplate::step(std::string_view rest) noexcept {
  if (begins_with_uuid(rest)) {
    identifier();
    return kUuidForm.size();
  }
  const std::size_t length = word_length(rest);
  if (length == 0) {
    literal(rest.front());
    return 1;
  }
  const std::string_view word = rest.substr(0, length);
  if (is_identifier(word))
    identifier();
  else
    numbers_in(word);
  return length;
}

// Identifiers that are joined become one star, so the joint before this one is removed.
void KeyTemplate::identifier() noexcept {
  if (joined_to_identifier())
    --size_;
  else
    star();
  identifier_end_ = star_end_ = size_;
}

bool KeyTemplate::joined_to_identifier() const noexcept {
  return identifier_end_ != 0 && size_ == identifier_end_ + 1 && is_joint(text_[size_ - 1]);
}

void KeyTemplate::numbers_in(std::string_view word) noexcept {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!is_digit(word[i]))
      put(word[i]);
    else if (i == 0 || !is_digit(word[i - 1]))
      star();
  }
}

void KeyTemplate::literal(char c) noexcept {
  if (std::string_view("*?[]\\").find(c) != std::string_view::npos) put('\\');
  put(c);
}

void KeyTemplate::star() noexcept {
  put('*');
  star_end_ = size_;
}

std::string key_template(std::string_view key) { return std::string(KeyTemplate(key).text()); }

}  // namespace heatsink::detect
