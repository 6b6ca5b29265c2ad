// SPDX-License-Identifier: Apache-2.0
// A table that fits: columns as wide as their content, the least important ones left out when it is
// narrow.
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
  // 0: as wide as its content. Otherwise it asks for this many columns, and for more (up to its
  // content) as far as there is room after the others.
  int elastic_from = 0;
  // 0: always there. Otherwise it may be left out, those with the highest number first.
  int optional = 0;
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

  // The titles and as many rows as fit, one space between columns. Returns how many rows it drew.
  std::size_t draw(Screen& screen, const Area& area, Style title_style) const;

 private:
  struct Placed {
    std::size_t column;
    int width;
  };
  int natural_width(std::size_t column) const;
  int wanted_width(std::size_t column) const;
  std::vector<Placed> layout(int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace heatsink::tui
