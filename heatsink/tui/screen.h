// SPDX-License-Identifier: Apache-2.0
// A picture made of cells: what a pure function returns, a test compares and a terminal shows.
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

// What a terminal without colours loses must not carry meaning alone: say it in the text too.
struct Style {
  Color color = Color::kDefault;
  bool bold = false;
  bool dim = false;
  bool reverse = false;
  friend bool operator==(Style, Style) = default;
};

struct Cell {
  std::string glyph = " ";  // one base character and its combining marks; "" right of a wide one
  Style style;
};

// Not thread-safe. Memory: about 56 bytes per cell.
class Screen {
 public:
  // Sides are held within 1 .. kSideMax.
  static constexpr int kSideMax = 1000;
  explicit Screen(Size size);

  Size size() const { return size_; }
  // REQUIRES: a place within the size.
  const Cell& at(int column, int row) const { return cells_[index(column, row)]; }

  // Writes safe_text(text), clipped at the edges (also when the place is outside); returns the
  // column after its last glyph. A wide glyph that would be cut in half becomes a space.
  int put(int column, int row, std::string_view text, Style style = {});

  // `style` for a whole row, keeping what is written there.
  void paint_row(int row, Style style);

  // The picture without styles: a line per row, spaces at the ends removed, each ended by '\n'.
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
