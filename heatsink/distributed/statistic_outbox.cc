// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_outbox.h"

#include <algorithm>
#include <cassert>

#include "heatsink/distributed/statistic_form.h"

namespace heatsink::distributed {

void StatisticOutbox::add(std::uint32_t series, const stats::Summary& numbers, TimePoint now) {
  if (numbers.count == 0) return;
  if (series >= all_.size()) all_.resize(series + std::size_t{1});
  Series& one = all_[series];
  if (one.fresh.count == 0) one.fresh_since = now;
  one.fresh.merge(numbers);
}

std::vector<StatisticOutbox::Part> StatisticOutbox::due(TimePoint now) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Series& one = all_[i];
    drop_old(one, now);
    if (one.is_on_its_way) continue;
    if (one.part.empty() && one.fresh.count != 0) freeze(one);
    if (one.part.empty()) continue;
    if (one.was_sent) ++counts_.resent;
    one.is_on_its_way = one.was_sent = true;
    parts.push_back({static_cast<std::uint32_t>(i), one.sequence, one.part});
  }
  return parts;
}

void StatisticOutbox::drop_old(Series& series, TimePoint now) {
  if (series.fresh.count != 0 && now - series.fresh_since > hold_) {
    counts_.dropped += series.fresh.count;
    series.fresh.clear();
  }
  if (series.part.empty() || series.is_on_its_way || now - series.part_since <= hold_) return;
  (series.may_be_counted ? counts_.uncertain : counts_.dropped) += series.part_count;
  clear_part(series);
}

void StatisticOutbox::freeze(Series& series) {
  ++series.sequence;
  series.part = encode_part(series.fresh);
  series.part_count = series.fresh.count;
  series.part_since = series.fresh_since;
  series.fresh.clear();
}

void StatisticOutbox::clear_part(Series& series) {
  series.part.clear();
  series.is_on_its_way = series.was_sent = series.may_be_counted = false;
}

void StatisticOutbox::delivered(std::uint32_t series, std::uint64_t sequence) {
  Series& one = all_.at(series);
  assert(one.is_on_its_way && one.sequence == sequence);
  static_cast<void>(sequence);
  counts_.delivered += one.part_count;
  clear_part(one);
}

void StatisticOutbox::failed(std::uint32_t series, std::uint64_t sequence, bool may_be_counted) {
  Series& one = all_.at(series);
  assert(one.is_on_its_way && one.sequence == sequence);
  static_cast<void>(sequence);
  one.is_on_its_way = false;
  one.may_be_counted = one.may_be_counted || may_be_counted;
}

bool StatisticOutbox::is_empty() const {
  return std::all_of(all_.begin(), all_.end(),
                     [](const Series& each) { return each.fresh.count == 0 && each.part.empty(); });
}

}  // namespace heatsink::distributed
