// SPDX-License-Identifier: Apache-2.0
// Draws a table that fits: columns are as wide as their content, and the least important ones are
// left out in a narrow area.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heatsink/tui/screen.h"
#include "heatsink/tui/text.h"

namespace heatsink::tui {

struct Column {
  std::string title;
  Align align = Align::kRight;
  // 0: as wide as its content. Otherwise its minimum width; it gets more (up to its content) if the
  // other columns leave room.
  int elastic_from = 0;
  // 0: always shown. Otherwise it may be left out, the highest number first.
  int optional = 0;
  // For an elastic column: columns with `optional` at least this are left out before it gets less
  // than its content. 0: they stay.
  int worth_more_than = 0;
};

struct TableCell {
  std::string text;
  Style style;
};

// A part of a screen.
struct Area {
  int column = 0;
  int row = 0;
  Size size;
};

// Not thread-safe. Cost of draw(): O(rows x columns).
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void add(std::vector<TableCell> row);

  // Draws the titles and as many rows as fit, with a space between columns; returns the number of
  // rows.
  std::size_t draw(Screen& screen, const Area& area, Style title_style) const;

 private:
  struct Placed {
    std::size_t column;
    int width;
  };
  int natural_width(std::size_t column) const;
  int minimum_width(std::size_t column) const;
  static int total_width(const std::vector<Placed>& placed);
  std::vector<Placed> layout(int width) const;
  // Leaves out columns with `optional` from `least` on while the others do not fit.
  void leave_out(std::vector<Placed>& placed, int width, int least) const;
  // Gives the room that is left to elastic columns.
  void widen(std::vector<Placed>& placed, int room, bool worthy) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace heatsink::tui
