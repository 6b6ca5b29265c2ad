// SPDX-License-Identifier: Apache-2.0
// Escapes bytes from outside, so that a log, a terminal or an error message can show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heatsink {

inline constexpr std::size_t kPrintableBytesMax = 256;

// Escaped as redis-cli does inside its quotes (\n \r \t \a \b \\ \" and \x00), except that UTF-8
// stays readable: only broken UTF-8, control characters (C0, DEL, C1) and the invisible ones that
// reorder or break a line (bidirectional controls, U+2028, U+2029, U+FEFF) become \xNN. So the
// result is always valid UTF-8 on one line, and what was not cut can be read back byte by byte. At
// most `bytes_max` bytes of the input are shown; the rest is told as "... (+12 bytes)".
std::string printable(std::string_view bytes, std::size_t bytes_max = kPrintableBytesMax);

// The same for a whole sentence: backslashes and quotes stay as they are, so a name in it that went
// through printable() is not escaped twice.
inline constexpr std::size_t kSentenceBytesMax = 1024;
std::string one_line(std::string_view text, std::size_t bytes_max = kSentenceBytesMax);

// The bytes that printable() showed so, if it did not cut them. A backslash that begins none of its
// escapes stands for itself, so a plain name may be typed as it is.
std::string from_printable(std::string_view text);

}  // namespace heatsink
