// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/heat_map.h"

#include <algorithm>
#include <functional>

namespace heatsink::heat {
namespace {

void add_step(const Column& column, std::size_t i, const std::vector<HeatMap::Row*>& row_of,
              HeatMap& map) {
  map.steps.push_back({.begin = TimePoint(map.step * column.number),
                       .number = column.number,
                       .seconds = column.seconds,
                       .totals = column.totals,
                       .requests_max = column.requests_max,
                       .unnamed_max = column.unnamed_max});
  for (const Cell& cell : column.cells()) {
    HeatMap::Row* const row = row_of[cell.id];
    if (row == nullptr) continue;
    row->mean[i] = cell.mean;
    row->max[i] = cell.max;
    row->writes[i] = cell.writes;
    row->hits[i] = cell.hits;
  }
}

}  // namespace

std::vector<IdentityId> busiest(std::span<const Column> columns, std::size_t identities,
                                std::size_t max) {
  std::vector<double> sums(identities, 0);
  for (const Column& column : columns)
    for (const Cell& cell : column.cells()) sums[cell.id] += rate_of(cell.mean);
  std::vector<IdentityId> order;
  for (std::size_t id = 0; id < sums.size(); ++id)
    if (sums[id] > 0) order.push_back(static_cast<IdentityId>(id));
  std::ranges::stable_sort(order, std::greater<>(), [&sums](IdentityId id) { return sums[id]; });
  order.resize(std::min(order.size(), max));
  return order;
}

void add_columns(std::span<const Column> columns, std::span<const IdentityId> order,
                 std::size_t identities, HeatMap& map) {
  std::vector<HeatMap::Row*> row_of(identities, nullptr);
  for (std::size_t i = 0; i < order.size(); ++i) {
    HeatMap::Row& row = map.rows[i];
    for (auto* const plane : {&row.mean, &row.max, &row.writes, &row.hits})
      plane->assign(columns.size(), 0);
    row_of[order[i]] = &row;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) add_step(columns[i], i, row_of, map);
}

}  // namespace heatsink::heat
