// SPDX-License-Identifier: Apache-2.0
// Makes text safe for a terminal, and counts its columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink::tui {

// The first code point of a text. `valid` is false for an invalid byte (RFC 3629: also overlong
// forms, surrogates, beyond U+10FFFF); then `bytes` is 1 and `value` that byte.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
  bool valid = false;
};
// REQUIRES a text that is not empty. All functions here are thread-safe.
CodePoint decode_utf8(std::string_view text);

// 0 (a combining character), 1 or 2 columns; -1 for code points that must be escaped: controls,
// unassigned ones, and invisible ones that reorder or hide text (U+202E and its kin). Uses the C
// library's table for C.UTF-8, as ncurses does, whatever the locale of the process.
int column_width(char32_t code_point);

// Replaces each byte of unprintable code points by \xNN: the last defence of the terminal against
// an attacker's text. Safe text is returned unchanged (a backslash is not doubled), so it may be
// applied twice. Text that must be read back byte by byte needs base's printable() first.
std::string safe_text(std::string_view bytes);

// The columns of safe_text(text).
int display_width(std::string_view text);

enum class Align { kLeft, kRight };

// safe_text(text) in exactly `width` columns: padded with spaces, or cut with an ellipsis at the
// end.
std::string fit(std::string_view text, int width, Align align = Align::kLeft);

// The width of output that goes to a file or a pipe.
inline constexpr int kColumnsMin = 40, kColumnsMax = 1000;

// The variable COLUMNS, within kColumnsMin and kColumnsMax; nothing: not set, or not a number.
std::optional<int> columns_of_environment();

}  // namespace heatsink::tui
