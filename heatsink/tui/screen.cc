// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/screen.h"

#include <algorithm>

#include "heatsink/tui/text.h"

namespace heatsink::tui {
namespace {

// A glyph may have any number of combining marks; ncurses shows at most five wide characters in a
// cell.
constexpr std::size_t kGlyphBytesMax = 16;

}  // namespace

Screen::Screen(Size size)
    : size_{std::clamp(size.width, 1, kSideMax), std::clamp(size.height, 1, kSideMax)},
      cells_(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height)) {}

int Screen::put(int column, int row, std::string_view text, Style style) {
  const std::string safe = safe_text(text);
  std::string_view rest = safe;
  while (!rest.empty()) {
    const CodePoint c = decode_utf8(rest);
    const int columns = column_width(c.value);
    if (columns == 0) {
      join(column - 1, row, rest.substr(0, c.bytes));
    } else {
      set(column, row, rest.substr(0, c.bytes), columns, style);
      column += columns;
    }
    rest.remove_prefix(c.bytes);
  }
  return column;
}

void Screen::set(int column, int row, std::string_view glyph, int columns, Style style) {
  if (!has_row(row) || column < 0 || column >= size_.width) return;
  if (column + columns > size_.width) {
    glyph = " ";
    columns = 1;
  }
  // Overwriting one half of a wide glyph also removes the other half.
  if (at(column, row).glyph.empty() && column > 0) cells_[index(column - 1, row)].glyph = " ";
  const int after = column + columns;
  if (after < size_.width && at(after, row).glyph.empty()) cells_[index(after, row)].glyph = " ";
  cells_[index(column, row)] = {std::string(glyph), style};
  if (columns == 2) cells_[index(column + 1, row)] = {std::string(), style};
}

void Screen::join(int column, int row, std::string_view mark) {
  if (!has_row(row) || column < 0 || column >= size_.width) return;
  if (at(column, row).glyph.empty() && column > 0) --column;
  std::string& glyph = cells_[index(column, row)].glyph;
  if (glyph.size() + mark.size() <= kGlyphBytesMax) glyph.append(mark);
}

void Screen::paint_row(int row, Style style) {
  if (!has_row(row)) return;
  for (int column = 0; column < size_.width; ++column) cells_[index(column, row)].style = style;
}

std::string Screen::text() const {
  std::string out;
  for (int row = 0; row < size_.height; ++row) {
    std::string line;
    for (int column = 0; column < size_.width; ++column) line += at(column, row).glyph;
    line.erase(line.find_last_not_of(' ') + 1);
    out.append(line).append(1, '\n');
  }
  return out;
}

}  // namespace heatsink::tui
