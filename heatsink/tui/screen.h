// SPDX-License-Identifier: Apache-2.0
// Holds a picture made of cells: pure functions return it, tests compare it, a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::tui {

struct Size {
  int width = 80;   // columns
  int height = 24;  // rows
  friend bool operator==(Size, Size) = default;
};

enum class Color { kDefault, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

// A terminal without colours loses styles, so the text must carry the meaning, too.
struct Style {
  Color color = Color::kDefault;
  bool bold = false;
  bool dim = false;
  bool reverse = false;
  friend bool operator==(Style, Style) = default;
};

struct Cell {
  std::string glyph = " ";  // a base character with its combining marks; "" right of a wide one
  Style style;
};

// Not thread-safe. Memory: about 56 bytes per cell.
class Screen {
 public:
  // Sides are clamped to 1 .. kSideMax.
  static constexpr int kSideMax = 1000;
  explicit Screen(Size size);

  Size size() const { return size_; }
  // REQUIRES: a position within the size.
  const Cell& at(int column, int row) const { return cells_[index(column, row)]; }

  // Writes safe_text(text), clipped at the edges (the position may be outside); returns the column
  // after its last glyph. A wide glyph that would be cut in half becomes a space.
  int put(int column, int row, std::string_view text, Style style = {});

  // Sets the style of a whole row and keeps its text.
  void paint_row(int row, Style style);

  // The picture without styles: a line per row, without trailing spaces, each ended by '\n'.
  std::string text() const;

 private:
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_.width) +
           static_cast<std::size_t>(column);
  }
  bool has_row(int row) const { return row >= 0 && row < size_.height; }
  void set(int column, int row, std::string_view glyph, int columns, Style style);
  void join(int column, int row, std::string_view mark);

  Size size_;
  std::vector<Cell> cells_;
};

}  // namespace heatsink::tui
