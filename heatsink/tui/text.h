// SPDX-License-Identifier: Apache-2.0
// Makes text safe for a terminal, and counts the columns that it takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heatsink::tui {

// The first code point of a text. `valid` is false for a byte that starts none (RFC 3629: also
// overlong forms, surrogates, past U+10FFFF); then `bytes` is 1 and `value` that byte.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
  bool valid = false;
};
// REQUIRES a text that is not empty. Thread-safe, like all functions here.
CodePoint decode_utf8(std::string_view text);

// 0 (joins the one before), 1 or 2 columns; -1 for what must not be printed as it is: controls,
// unassigned code points, and the invisible ones that reorder or hide text around them (U+202E and
// its kin). Asks the C library's table for C.UTF-8, whatever the locale of the process: the one
// ncurses goes by.
int column_width(char32_t code_point);

// `bytes` with every byte of what must not be printed as \xNN: the last fence between an attacker's
// text and the terminal. Already safe text comes back unchanged (a backslash is not doubled), so it
// may be applied twice. What is to be read back byte by byte is escaped by base's printable()
// before.
std::string safe_text(std::string_view bytes);

// Columns that safe_text(text) takes.
int display_width(std::string_view text);

enum class Align { kLeft, kRight };

// safe_text(text) in exactly `width` columns: padded with spaces, or cut with an ellipsis at the
// end.
std::string fit(std::string_view text, int width, Align align = Align::kLeft);

}  // namespace heatsink::tui
