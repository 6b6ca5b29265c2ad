// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/inline_request.h"

#include <cstddef>

namespace heatsink::resp {
namespace {

// There are two sets of blanks because the server has two: isspace() between arguments and after a
// closing quote, and a shorter list that ends an unquoted argument. So "a\vb" is one argument.
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool ends_word(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

class Splitter {
 public:
  Splitter(std::string_view line, std::string& text) : line_(line), text_(text) {}

  bool next_argument_begins() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    return at_ < line_.size();
  }

  // Appends one argument to the text; false if its quotes are unbalanced.
  bool read_argument() {
    while (at_ < line_.size() && !ends_word(line_[at_])) {
      const char c = line_[at_++];
      if (c == '"') return read_double_quoted();
      if (c == '\'') return read_single_quoted();
      text_ += c;
    }
    return true;
  }

 private:
  bool quote_closed() const { return at_ == line_.size() || is_blank(line_[at_]); }

  bool read_single_quoted() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == '\'') return quote_closed();
      const bool escaped = c == '\\' && at_ < line_.size() && line_[at_] == '\'';
      text_ += escaped ? line_[at_++] : c;
    }
    return false;
  }

  bool read_double_quoted() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == '"') return quote_closed();
      text_ += c == '\\' && at_ < line_.size() ? read_escape() : c;
    }
    return false;
  }

  // REQUIRES a backslash before it that is not the last byte.
  char read_escape() {
    if (line_[at_] == 'x' && at_ + 2 < line_.size()) {
      const int high = hex_digit(line_[at_ + 1]);
      const int low = hex_digit(line_[at_ + 2]);
      if (high >= 0 && low >= 0) {
        at_ += 3;
        return static_cast<char>(high * 16 + low);
      }
    }
    return unescaped(line_[at_++]);
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::string& text_;
};

}  // namespace

bool split_inline(std::string_view line, std::string& text, std::vector<std::string_view>& args) {
  args.clear();
  text.clear();
  text.reserve(line.size());  // unquoting never lengthens, so the views stay valid
  Splitter splitter(line, text);
  while (splitter.next_argument_begins()) {
    const std::size_t begin = text.size();
    if (!splitter.read_argument()) return false;
    args.emplace_back(text.data() + begin, text.size() - begin);
  }
  return true;
}

}  // namespace heatsink::resp
