// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/history.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace heatsink::heat {
namespace {

std::int64_t seconds_of(TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

History::History(std::size_t identities_max)
    : identities_(identities_max), identities_max_(identities_max) {
  for (std::size_t tier = 0; tier < kTiers.size(); ++tier)
    rings_[tier].columns.reserve(kTiers[tier].columns_max);
}

void History::Ring::push(const Column& column, std::size_t max) {
  if (columns.size() < max) {
    columns.emplace_back(column);
    return;
  }
  columns[next] = PackedColumn(column);
  next = (next + 1) % max;
}

void History::add(const Moment& moment) {
  std::unique_lock lock(mutex_);
  const Ring& seconds = rings_[0];
  const std::int64_t number = seconds_of(moment.at) - 1;
  if (number < 0 || (!seconds.columns.empty() && number <= seconds.newest().number())) return;
  if (seconds.columns.empty()) first_ = number;
  window_ = moment.window;
  latest_ = moment;
  Column column = column_of(moment);
  column.number = number;
  push(0, column);
  lock.unlock();
  if (listener_) listener_(moment);
}

// Whatever column comes next, the steps that ended before it are complete.
void History::push(std::size_t tier, const Column& column) {
  rings_[tier].push(column, kTiers[tier].columns_max);
  const std::size_t coarser = tier + 1;
  if (coarser == kTiers.size()) return;
  const std::int64_t number =
      column.number * kTiers[tier].step_s / kTiers[coarser].step_s;  // both are at least 0
  if (!mergers_[coarser].is_empty() && number != open_[coarser]) {
    push(coarser, mergers_[coarser].close(open_[coarser],
                                          [this](IdentityId id) { return identities_.kind(id); }));
  }
  open_[coarser] = number;
  mergers_[coarser].add(column);
}

Column History::column_of(const Moment& moment) {
  // Room for all names at once: one that this column has already would look as if nothing had it.
  for (std::size_t before = SIZE_MAX;
       identities_.size() + moment.items.size() > identities_max_ && identities_.size() < before;) {
    before = identities_.size();
    forget();
  }
  Column column;
  column.seconds = 1;
  column.totals = packed(moment.totals);
  column.requests_max = static_cast<float>(moment.totals.requests);
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    column.unnamed_max[kind] = static_cast<float>(moment.unnamed_max[kind]);
  std::vector<bool> named(identities_max_, false);
  for (const Item& item : moment.items) {
    if (!(item.rate > 0)) continue;
    auto& unnamed = column.unnamed_max[static_cast<std::size_t>(item.identity.kind)];
    const std::optional<IdentityId> id = number_of(item.identity);
    const RateCode mean = code_of(item.rate);
    if (!id || column.size == Column::kCellsMax || named[*id]) {
      unnamed = std::max(unnamed, static_cast<float>(item.rate));
      continue;
    }
    named[*id] = true;
    column.all[column.size++] = {.id = *id,
                                 .mean = mean,
                                 .max = mean,
                                 .writes = code_of(item.writes),
                                 .hits = code_of(item.hits),
                                 .bytes = bytes_code(item.bytes)};
  }
  return column;
}

std::optional<IdentityId> History::number_of(const Identity& identity) {
  std::optional<IdentityId> id = identities_.number_of(identity);
  if (id) return id;
  forget();
  return identities_.number_of(identity);
}

// The column without the identities that leave: what they had raises the bound.
Column History::without(Column column, const std::vector<bool>& leaves) const {
  // Not std::ranges: clang 14 has no subrange of a span's iterators.
  const auto cells = column.cells();
  const auto rest = std::stable_partition(cells.begin(), cells.end(),
                                          [&leaves](const Cell& cell) { return !leaves[cell.id]; });
  for (auto cell = rest; cell != cells.end(); ++cell) {
    auto& unnamed = column.unnamed_max[static_cast<std::size_t>(identities_.kind(cell->id))];
    unnamed = std::max(unnamed, static_cast<float>(rate_of(cell->max)));
  }
  column.size = static_cast<std::uint8_t>(rest - cells.begin());
  return column;
}

// Frees an eighth of all numbers: those that no column has any more, then those whose highest rate
// is lowest. Looks at each cell a few times, about 2 ms; keys that change each second cause it
// every 16 s.
void History::forget() {
  std::vector<RateCode> peak(identities_.numbers(), 0);
  for (const Ring& ring : rings_)
    for (const PackedColumn& column : ring.columns)
      column.for_each_cell(
          [&peak](IdentityId id, RateCode max) { peak[id] = std::max(peak[id], max); });
  std::vector<IdentityId> order;
  for (std::size_t i = 0; i < peak.size(); ++i)
    if (const auto id = static_cast<IdentityId>(i); identities_.is_used(id)) order.push_back(id);
  std::ranges::stable_sort(order, {}, [&peak](IdentityId id) { return peak[id]; });
  order.resize(std::min(order.size(), std::max<std::size_t>(identities_max_ / 8, 1)));
  std::vector<bool> leaves(peak.size(), false);
  for (const IdentityId id : order) leaves[id] = true;
  for (Ring& ring : rings_) {
    for (PackedColumn& packed : ring.columns) {
      bool has_one = false;
      packed.for_each_cell(
          [&](IdentityId id, RateCode /*max*/) { has_one = has_one || leaves[id]; });
      if (has_one) packed = PackedColumn(without(packed.unpacked(), leaves));
    }
  }
  for (const IdentityId id : order) {
    for (Merger& merger : mergers_) merger.forget(id, identities_.kind(id));
    identities_.free(id);
  }
}

// The finest tier that still has the beginning of the range. Its oldest columns may just be gone.
std::size_t History::tier_for(const Range& range) const {
  TimePoint newest = range.to;
  if (const Ring& seconds = rings_[0]; !seconds.columns.empty())
    newest = TimePoint(std::chrono::seconds(seconds.newest().number() + 1));
  for (std::size_t tier = 0; tier < kTiers.size(); ++tier) {
    if (range.step_s) {
      if (*range.step_s == kTiers[tier].step_s) return tier;
      continue;
    }
    const auto step = std::chrono::seconds(kTiers[tier].step_s);
    const auto kept = step * static_cast<std::int64_t>(kTiers[tier].columns_max);
    const bool fits = range.to - range.from <= step * static_cast<std::int64_t>(kStepsMax);
    if (fits && range.from + kept / 20 >= newest - kept) return tier;
  }
  return kTiers.size() - 1;
}

std::vector<Column> History::copy_of(std::size_t tier, const Range& range) const {
  const std::int64_t step_s = kTiers[tier].step_s;
  const std::int64_t first = seconds_of(range.from) / step_s;
  const std::int64_t last = seconds_of(range.to) / step_s;
  std::vector<Column> out;
  const Ring& ring = rings_[tier];
  const std::size_t count = ring.columns.size();
  for (std::size_t i = 0; i < count; ++i) {
    const PackedColumn& column = ring.columns[(ring.next + i) % count];
    const std::int64_t number = column.number();
    if (number >= first && number <= last && number > range.after) out.push_back(column.unpacked());
  }
  if (out.size() > kStepsMax) out.erase(out.begin(), out.end() - kStepsMax);
  return out;
}

HeatMap History::read(const Range& range) const {
  std::unique_lock lock(mutex_);
  const std::size_t tier = tier_for(range);
  const std::vector<Column> columns = copy_of(tier, range);
  const std::size_t identities = identities_.numbers();
  const std::vector<IdentityId> order = busiest(
      columns, identities, [this](IdentityId id) { return identities_.kind(id); }, range.rows_max);
  HeatMap map;
  map.window = window_;
  for (const IdentityId id : order) map.rows.push_back({.identity = identities_[id]});
  lock.unlock();

  map.step = std::chrono::seconds(kTiers[tier].step_s);
  add_columns(columns, order, identities, map);
  return map;
}

std::optional<Moment> History::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

Sums History::sums(const Range& range) const {
  std::unique_lock lock(mutex_);
  const std::size_t tier = tier_for(range);
  Range whole = range;
  whole.after = INT64_MIN;
  const std::vector<Column> columns = copy_of(tier, whole);
  std::vector<std::optional<Identity>> keys(identities_.numbers());
  for (const Column& column : columns) {
    for (const Cell& cell : column.cells()) {
      if (!keys[cell.id] && identities_.kind(cell.id) == Kind::kKey)
        keys[cell.id] = identities_[cell.id];
    }
  }
  lock.unlock();

  return sums_of(columns, std::chrono::seconds(kTiers[tier].step_s), tier + 1,
                 [&keys](IdentityId id) { return keys[id] ? &*keys[id] : nullptr; });
}

std::optional<TimePoint> History::begins() const {
  const std::lock_guard lock(mutex_);
  std::optional<TimePoint> oldest;
  for (std::size_t tier = 0; tier < kTiers.size(); ++tier) {
    const Ring& ring = rings_[tier];
    if (ring.columns.empty()) continue;
    const std::int64_t number = ring.columns[ring.next % ring.columns.size()].number();
    const TimePoint begin(std::chrono::seconds(number * kTiers[tier].step_s));
    if (!oldest || begin < *oldest) oldest = begin;
  }
  if (oldest) oldest = std::max(*oldest, TimePoint(std::chrono::seconds(first_)));
  return oldest;
}

std::size_t History::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = identities_.bytes() + identities_.numbers() * sizeof(Identity);
  for (const Ring& ring : rings_)
    for (const PackedColumn& column : ring.columns) bytes += column.bytes();
  return bytes;
}

}  // namespace heatsink::heat
