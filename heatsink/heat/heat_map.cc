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
    row->bytes[i] = cell.bytes;
  }
}

}  // namespace

std::vector<IdentityId> busiest(std::span<const Column> columns, std::size_t identities,
                                const KindOf& kind_of, std::size_t max, std::optional<Kind> only) {
  std::vector<double> sums(identities, 0);
  for (const Column& column : columns)
    for (const Cell& cell : column.cells()) sums[cell.id] += rate_of(cell.mean);
  std::vector<IdentityId> all;
  for (std::size_t id = 0; id < sums.size(); ++id)
    if (sums[id] > 0) all.push_back(static_cast<IdentityId>(id));
  const auto by_sum = [&sums](IdentityId id) { return sums[id]; };
  std::ranges::stable_sort(all, std::greater<>(), by_sum);

  // A node has more than any key of it: places within the kinds are compared.
  struct Ranked {
    std::size_t place;
    IdentityId id;
  };
  std::array<std::size_t, kKinds> places{};
  std::vector<Ranked> ranked;
  for (const IdentityId id : all) {
    const Kind kind = kind_of(id);
    if (only && kind != *only) continue;
    const std::size_t place = places[static_cast<std::size_t>(kind)]++;
    if (place < max) ranked.push_back({place, id});
  }
  std::ranges::stable_sort(ranked, {}, &Ranked::place);
  ranked.resize(std::min(ranked.size(), kRowsMax));
  std::vector<IdentityId> order;
  order.reserve(ranked.size());
  for (const Ranked& each : ranked) order.push_back(each.id);
  std::ranges::stable_sort(order, std::greater<>(), by_sum);
  return order;
}

void add_columns(std::span<const Column> columns, std::span<const IdentityId> order,
                 std::size_t identities, HeatMap& map) {
  std::vector<HeatMap::Row*> row_of(identities, nullptr);
  for (std::size_t i = 0; i < order.size(); ++i) {
    HeatMap::Row& row = map.rows[i];
    for (auto* const plane : {&row.mean, &row.max, &row.writes, &row.hits, &row.bytes})
      plane->assign(columns.size(), 0);
    row_of[order[i]] = &row;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) add_step(columns[i], i, row_of, map);
}

}  // namespace heatsink::heat
