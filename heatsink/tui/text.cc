// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/text.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heatsink::tui {
namespace {

struct CodeRange {
  char32_t first, last;
};

// Printable for the C library, but able to disguise a line: zero-width spaces, bidirectional marks
// and overrides, invisible operators, annotation anchors, tag characters.
constexpr std::array<CodeRange, 9> kDeceptive{{{0x00AD, 0x00AD},
                                               {0x061C, 0x061C},
                                               {0x180E, 0x180E},
                                               {0x200B, 0x200F},
                                               {0x2028, 0x202E},
                                               {0x2060, 0x206F},
                                               {0xFEFF, 0xFEFF},
                                               {0xFFF9, 0xFFFB},
                                               {0xE0000, 0xE0FFF}}};

bool is_deceptive(char32_t c) {
  return std::ranges::any_of(kDeceptive,
                             [c](const CodeRange& r) { return r.first <= c && c <= r.last; });
}

// Made once and never freed.
locale_t utf8_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The length of the sequence that `lead` starts, and the smallest code point that needs this
// length; 0 if it starts none.
std::size_t sequence_length(unsigned char lead, char32_t& smallest) {
  if (lead >= 0xF0 && lead <= 0xF4) return smallest = 0x10000, 4;
  if (lead >= 0xE0 && lead <= 0xEF) return smallest = 0x800, 3;
  if (lead >= 0xC2 && lead <= 0xDF) return smallest = 0x80, 2;
  return 0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
  }
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const CodePoint invalid{lead, 1, false};
  char32_t smallest = 0;
  const std::size_t length = sequence_length(lead, smallest);
  if (length == 0 || text.size() < length) return invalid;
  char32_t value = lead & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1)) {
    if (!is_continuation(c)) return invalid;
    value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  if (value < smallest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return invalid;
  return {value, length, true};
}

int column_width(char32_t code_point) {
  if (code_point < 0x7F) return code_point < 0x20 ? -1 : 1;
  if (is_deceptive(code_point)) return -1;
  const locale_t locale = utf8_locale();
  if (locale == nullptr) return -1;  // a C library without C.UTF-8: escape instead of guessing
  const locale_t before = uselocale(locale);
  const int width = wcwidth(static_cast<wchar_t>(code_point));
  uselocale(before);
  return width;
}

std::string safe_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const CodePoint c = decode_utf8(bytes);
    const std::string_view own = bytes.substr(0, c.bytes);
    if (c.valid && column_width(c.value) >= 0) {
      out.append(own);
    } else {
      append_escaped(out, own);
    }
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    const int columns = c.valid ? column_width(c.value) : -1;
    width += columns >= 0 ? columns : static_cast<int>(4 * c.bytes);  // each byte as "\xNN"
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string fit(std::string_view text, int width, Align align) {
  if (width <= 0) return {};
  std::string safe = safe_text(text);
  const int natural = display_width(safe);
  if (natural <= width) {
    const auto padding = static_cast<std::size_t>(width - natural);
    safe.insert(align == Align::kLeft ? safe.size() : 0, padding, ' ');
    return safe;
  }
  std::string out;
  int used = 0;
  std::string_view rest = safe;
  while (true) {
    const CodePoint c = decode_utf8(rest);
    const int columns = column_width(c.value);
    if (used + columns > width - 1) break;
    out.append(rest.substr(0, c.bytes));
    used += columns;
    rest.remove_prefix(c.bytes);
  }
  out.append("…").append(static_cast<std::size_t>(width - 1 - used), ' ');
  return out;
}

std::optional<int> columns_of_environment() {
  const char* const set = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view text = set == nullptr ? "" : set;
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc() || end != text.data() + text.size() || columns <= 0) return std::nullopt;
  return std::clamp(columns, kColumnsMin, kColumnsMax);
}

}  // namespace heatsink::tui
