// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/manual/roff.h"

#include <utility>

namespace heatsink::app {
namespace {

constexpr std::size_t kColumnsMax = 78;  // of a source line of running text

// Lines of about 80 columns, broken at spaces: mandoc and reviewers ask for that.
std::string filled(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    const std::string shown = roff_text(word);
    if (column != 0 && column + 1 + shown.size() > kColumnsMax) {
      out += '\n';
      column = 0;
    }
    if (column != 0) out += ' ';
    // A line that begins with a dot or an apostrophe would be a macro.
    if (column == 0 && (shown[0] == '.' || shown[0] == '\'')) out += "\\&";
    out += shown;
    column += shown.size() + 1;
  }
  return out + "\n";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : roff_text(text)) out += c == '"' ? "\\(dq" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

Roff::Roff(std::string_view title, std::string_view section, std::string_view date,
           std::string_view source, std::string_view manual) {
  text_ =
      "."
      "\\\" Written by 'heatsink man'.\n.TH";
  for (const std::string_view word : {title, section, date, source, manual})
    text_ += " \"" + std::string(word) + "\"";  // a reader of the date knows no escapes
  text_ += "\n";
}

void Roff::line(std::string_view macro, std::string_view text) {
  text_ += std::string(macro) + " " + quoted(text) + "\n";
}

void Roff::section(std::string_view name) { line(".SH", name); }

void Roff::subsection(std::string_view name) { line(".SS", name); }

bool Roff::below_heading() const {
  const std::size_t last = text_.rfind('\n', text_.size() - 2);
  const std::string_view before = std::string_view(text_).substr(last + 1, 3);
  return before == ".SH" || before == ".SS";
}

// Directly below a heading a paragraph begins by itself.
void Roff::begin_paragraph() {
  if (!below_heading()) text_ += ".PP\n";
}

void Roff::paragraph(std::string_view text) {
  begin_paragraph();
  text_ += filled(text);
}

void Roff::item(std::string_view term, std::string_view value, std::string_view text) {
  text_ += ".TP\n\\fB" + roff_text(term) + "\\fR";
  if (!value.empty()) text_ += " \\fI" + roff_text(value) + "\\fR";
  text_ += "\n" + filled(text);
}

void Roff::more(std::string_view text) { text_ += ".IP\n" + filled(text); }

void Roff::example(std::string_view text) {
  begin_paragraph();
  text_ += ".nf\n.RS 4\n";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) text_ += "\\&";
    text_ += roff_text(line) + "\n";
  }
  text_ += ".RE\n.fi\n";
}

void Roff::synopsis(std::string_view command, std::string_view arguments) {
  if (!below_heading()) text_ += ".br\n";
  text_ += "\\fB" + roff_text(command) + "\\fR";
  if (!arguments.empty()) text_ += " " + roff_text(arguments);
  text_ += "\n";
}

void Roff::name(std::string_view name, std::string_view what) {
  section("NAME");
  text_ += roff_text(name) + " \\- " + roff_text(what) + "\n";
}

}  // namespace heatsink::app
