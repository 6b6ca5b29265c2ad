// SPDX-License-Identifier: Apache-2.0
// Writes a manual page in the macros of man(7).
#pragma once

#include <string>
#include <string_view>

namespace heatsink::app {

// Text is escaped, but not that of the constructor: nothing in it is taken for a macro or an
// escape. Not thread-safe.
class Roff {
 public:
  // "HEATSINK-PROXY", "1", "2026-11-25" or "", "heatsink 0.1.0", "User Commands".
  Roff(std::string_view title, std::string_view section, std::string_view date,
       std::string_view source, std::string_view manual);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view text);
  // A definition: `term` in bold, then `value` in italics, then what they mean.
  void item(std::string_view term, std::string_view value, std::string_view text);
  void more(std::string_view text);     // a second paragraph of the item before
  void example(std::string_view text);  // lines as they are
  // One line: a command in bold, and its arguments as they are.
  void synopsis(std::string_view command, std::string_view arguments);
  // "name \- what it is", as whatis(1) reads it.
  void name(std::string_view name, std::string_view what);

  const std::string& text() const { return text_; }

 private:
  bool below_heading() const;
  void begin_paragraph();
  void line(std::string_view macro, std::string_view text);

  std::string text_;
};

// The text with roff's own characters escaped, for the inside of a line.
std::string roff_text(std::string_view text);

}  // namespace heatsink::app
