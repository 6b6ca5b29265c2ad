// SPDX-License-Identifier: Apache-2.0
// Escapes bytes from outside, so that a log, a terminal or an error message can show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heatsink {

inline constexpr std::size_t kPrintableBytesMax = 256;

// Escapes as redis-cli does inside its quotes (\n \r \t \a \b \\ \" and \x00), but keeps UTF-8
// readable: only invalid UTF-8, control characters (C0, DEL, C1) and the invisible ones that
// reorder or break a line (bidirectional controls, U+2028, U+2029, U+FEFF) become \xNN. The result
// is always valid UTF-8 on one line, and an uncut one can be read back byte by byte. Shows at most
// `bytes_max` bytes of the input, and the number of further ones: "... (+12 bytes)".
std::string printable(std::string_view bytes, std::size_t bytes_max = kPrintableBytesMax);

// printable() for a sentence: keeps backslashes and quotes, so that a name inside, which went
// through printable(), is not escaped twice.
inline constexpr std::size_t kSentenceBytesMax = 1024;
std::string one_line(std::string_view text, std::size_t bytes_max = kSentenceBytesMax);

// The bytes that printable() showed, if it did not cut them. A backslash outside printable()'s
// escapes stands for itself, so that a plain name may be typed unchanged.
std::string from_printable(std::string_view text);

}  // namespace heatsink
