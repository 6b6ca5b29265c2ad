// SPDX-License-Identifier: Apache-2.0
// Matches any pattern with any key: the result must equal that of the slowest algorithm, and the
// pattern's properties must be true. The first byte is the length of the pattern.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/detect/key_pattern.h"

namespace {

using heatsink::detect::KeyPattern;

void require(bool holds) {
  if (!holds) std::abort();
}

// One element of a pattern, and the rest after it.
struct Element {
  bool star = false;
  std::vector<bool> bytes = std::vector<bool>(256);
};

// Reads the class after "[" one byte at a time, like the server's stringmatchlen().
Element read_class(std::string_view& pattern) {
  Element element;
  const bool negated = pattern.starts_with('^');
  if (negated) pattern.remove_prefix(1);
  const auto byte_at = [&](std::size_t i) { return static_cast<std::uint8_t>(pattern[i]); };
  while (!pattern.empty() && pattern[0] != ']') {
    std::size_t taken = 1;
    std::size_t low = byte_at(0);
    std::size_t high = low;
    if (pattern[0] == '\\' && pattern.size() > 1) {
      taken = 2;
      low = high = byte_at(1);
    } else if (pattern.size() > 2 && pattern[1] == '-') {
      taken = 3;
      high = byte_at(2);
    }
    if (low > high) std::swap(low, high);
    for (std::size_t byte = low; byte <= high; ++byte) element.bytes[byte] = true;
    pattern.remove_prefix(taken);
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  if (negated) element.bytes.flip();
  return element;
}

Element read_element(std::string_view& pattern) {
  char first = pattern[0];
  pattern.remove_prefix(1);
  if (first == '[') return read_class(pattern);
  Element element;
  element.star = first == '*';
  if (first == '?') element.bytes.flip();
  if (first == '\\' && !pattern.empty()) {
    first = pattern[0];
    pattern.remove_prefix(1);
  } else if (first == '?' || first == '*') {
    return element;
  }
  element.bytes[static_cast<std::uint8_t>(first)] = true;
  return element;
}

// Computes all positions in the key that can be reached, element by element.
bool matches_slowly(std::string_view pattern, std::string_view key) {
  std::vector<bool> reached(key.size() + 1);
  reached[0] = true;
  while (!pattern.empty()) {
    const Element element = read_element(pattern);
    std::vector<bool> next(key.size() + 1);
    for (std::size_t at = 0; at <= key.size(); ++at) {
      if (element.star) {
        next[at] = reached[at] || (at > 0 && next[at - 1]);
      } else if (at > 0 && element.bytes[static_cast<std::uint8_t>(key[at - 1])]) {
        next[at] = reached[at - 1];
      }
    }
    reached = std::move(next);
  }
  return reached[key.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view text = bytes.substr(0, data[0]);
  const std::string_view key = bytes.substr(text.size());
  const KeyPattern pattern(text);
  const bool matches = pattern.matches(key);
  require(matches == matches_slowly(text, key));
  if (matches) require(key.starts_with(pattern.head()) && key.size() >= pattern.literal_bytes());
  using Kind = KeyPattern::Kind;
  if (pattern.kind() == Kind::kExact) require(matches == (key == pattern.head()));
  if (pattern.kind() == Kind::kPrefix) require(matches == key.starts_with(pattern.head()));
  return 0;
}
