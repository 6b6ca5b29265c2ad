// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/merger.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace heatsink::heat {
namespace {

// What is not known in one of them is not known in both.
float higher(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

}  // namespace

void Merger::add(const Column& column) {
  const double weight = column.seconds;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    if (std::isnan(column.totals[i])) continue;
    totals_[i] += weight * static_cast<double>(column.totals[i]);
    known_seconds_[i] += weight;
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    unnamed_max_[kind] = is_empty() ? column.unnamed_max[kind]
                                    : higher(unnamed_max_[kind], column.unnamed_max[kind]);
  }
  requests_max_ = std::max(requests_max_, column.requests_max);
  for (const Cell& cell : column.cells()) {
    Sum& sum = sums_[cell.id];
    sum.mean += weight * rate_of(cell.mean);
    sum.writes += weight * rate_of(cell.writes);
    sum.hits += weight * rate_of(cell.hits);
    sum.bytes += weight * bytes_of(cell.bytes);
    sum.max = std::max(sum.max, cell.max);
  }
  seconds_ += column.seconds;
}

void Merger::forget(IdentityId id, Kind kind) {
  const auto found = sums_.find(id);
  if (found == sums_.end()) return;
  double& highest = forgotten_max_[static_cast<std::size_t>(kind)];
  highest = std::max(highest, found->second.mean);
  sums_.erase(found);
}

void Merger::name_busiest(Column& column, const std::function<Kind(IdentityId)>& kind) const {
  std::vector<std::pair<double, IdentityId>> order;
  order.reserve(sums_.size());
  for (const auto& [id, sum] : sums_) order.emplace_back(sum.mean, id);
  // The number decides between equals, so that equal traffic makes equal columns.
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::array<std::size_t, kKinds> named{};
  std::array<double, kKinds> left_out_max = forgotten_max_;
  for (const auto& [mean, id] : order) {
    const auto of = static_cast<std::size_t>(kind(id));
    if (named[of] == kPerMoment[of]) {
      left_out_max[of] = std::max(left_out_max[of], mean);
      continue;
    }
    ++named[of];
    const Sum& sum = sums_.at(id);
    column.all[column.size++] = {.id = id,
                                 .mean = code_of(mean / seconds_),
                                 .max = sum.max,
                                 .writes = code_of(sum.writes / seconds_),
                                 .hits = code_of(sum.hits / seconds_),
                                 .bytes = bytes_code(sum.bytes / seconds_)};
  }
  // The seconds that did not name it had the bound of their columns, which is in the maximum.
  for (std::size_t of = 0; of < kKinds; ++of)
    column.unnamed_max[of] += static_cast<float>(left_out_max[of] / seconds_);
}

Column Merger::close(std::int64_t number, const std::function<Kind(IdentityId)>& kind) {
  Column column;
  column.number = number;
  column.seconds = seconds_;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    column.totals[i] =
        known_seconds_[i] > 0 ? static_cast<float>(totals_[i] / known_seconds_[i]) : NAN;
  }
  column.requests_max = requests_max_;
  column.unnamed_max = unnamed_max_;
  name_busiest(column, kind);
  *this = Merger();
  return column;
}

}  // namespace heatsink::heat
