// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heatsink::tui {

void Table::add(std::vector<TableCell> row) {
  assert(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

int Table::natural_width(std::size_t column) const {
  int width = display_width(columns_[column].title);
  for (const auto& row : rows_) width = std::max(width, display_width(row[column].text));
  return width;
}

int Table::minimum_width(std::size_t column) const {
  const int natural = natural_width(column);
  const int from = columns_[column].elastic_from;
  return from == 0 ? natural : std::min(natural, from);
}

int Table::total_width(const std::vector<Placed>& placed) {
  int used = -1;  // no space before the first column
  for (const Placed& p : placed) used += p.width + 1;
  return used;
}

void Table::leave_out(std::vector<Placed>& placed, int width, int least) const {
  const auto importance = [this](const Placed& p) { return columns_[p.column].optional; };
  while (!placed.empty() && total_width(placed) > width) {
    const auto last = std::ranges::max_element(placed, {}, importance);
    if (importance(*last) < least) break;
    placed.erase(last);
  }
}

void Table::widen(std::vector<Placed>& placed, int room, bool worthy) const {
  for (Placed& p : placed) {
    if (columns_[p.column].elastic_from == 0) continue;
    if ((columns_[p.column].worth_more_than > 0) != worthy) continue;
    const int more = std::clamp(room, 0, natural_width(p.column) - p.width);
    p.width += more;
    room -= more;
  }
}

std::vector<Table::Placed> Table::layout(int width) const {
  std::vector<Placed> placed;
  int least = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const int worth = columns_[i].worth_more_than;
    placed.push_back({i, worth > 0 ? natural_width(i) : minimum_width(i)});
    least = std::max(least, worth);
  }
  if (least > 0) leave_out(placed, width, least);
  const bool worthy_first = total_width(placed) <= width;
  for (Placed& p : placed) p.width = minimum_width(p.column);
  leave_out(placed, width, 1);
  widen(placed, width - total_width(placed), worthy_first);
  widen(placed, width - total_width(placed), !worthy_first);
  return placed;
}

std::size_t Table::draw(Screen& screen, const Area& area, Style title_style) const {
  if (area.size.height <= 0) return 0;
  const std::vector<Placed> placed = layout(area.size.width);
  const std::size_t shown = std::min(rows_.size(), static_cast<std::size_t>(area.size.height - 1));
  int column = area.column;
  for (const Placed& p : placed) {
    const Column& spec = columns_[p.column];
    const int width = std::min(p.width, area.column + area.size.width - column);
    screen.put(column, area.row, fit(spec.title, width, spec.align), title_style);
    for (std::size_t i = 0; i < shown; ++i) {
      const TableCell& cell = rows_[i][p.column];
      screen.put(column, area.row + 1 + static_cast<int>(i), fit(cell.text, width, spec.align),
                 cell.style);
    }
    column += p.width + 1;
  }
  return shown;
}

}  // namespace heatsink::tui
