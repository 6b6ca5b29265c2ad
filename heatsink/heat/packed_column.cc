// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/packed_column.h"

namespace heatsink::heat {

PackedColumn::PackedColumn(const Column& column)
    : number_(column.number),
      seconds_(column.seconds),
      requests_max_(column.requests_max),
      totals_(column.totals),
      unnamed_max_(column.unnamed_max) {
  cells_.reserve(column.size * kCellBytes);
  for (const Cell& cell : column.cells()) {
    const auto low = static_cast<std::uint8_t>(cell.id & 0xffU);
    const auto high = static_cast<std::uint8_t>(cell.id >> 8U);
    cells_.insert(cells_.end(),
                  {low, high, cell.mean, cell.max, cell.writes, cell.hits, cell.bytes});
  }
}

Column PackedColumn::unpacked() const {
  Column out{.number = number_,
             .seconds = seconds_,
             .totals = totals_,
             .requests_max = requests_max_,
             .unnamed_max = unnamed_max_};
  for (std::size_t at = 0; at < cells_.size(); at += kCellBytes) {
    out.all[out.size++] = {.id = id_at(at),
                           .mean = cells_[at + 2],
                           .max = cells_[at + 3],
                           .writes = cells_[at + 4],
                           .hits = cells_[at + 5],
                           .bytes = cells_[at + 6]};
  }
  return out;
}

}  // namespace heatsink::heat
