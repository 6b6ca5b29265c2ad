// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/moment.h"

#include <algorithm>
#include <utility>

namespace heatsink::heat {
namespace {

// The highest count of the unlisted keys and of those that follow in the list. `list`: by high,
// descending.
double highest_of_rest(const std::vector<detect::KeyCount>& list, std::size_t named,
                       std::uint64_t absent_max, double seconds) {
  std::uint64_t highest = absent_max;
  if (named < list.size()) highest = std::max(highest, list[named].high);
  return static_cast<double>(highest) / seconds;
}

void add(Moment& moment, Kind kind, const std::vector<detect::KeyCount>& list,
         std::uint64_t absent_max, double seconds, const Show& show) {
  const std::size_t count = std::min(list.size(), kPerMoment[static_cast<std::size_t>(kind)]);
  for (std::size_t i = 0; i < count; ++i) {
    const detect::KeyCount& key = list[i];
    Item item;
    item.identity.kind = kind;
    item.identity.db = key.db;
    item.identity.name = show(key.key);
    item.identity.is_cut = key.key_truncated || item.identity.name.size() > Identity::kBytesMax;
    if (item.identity.name.size() > Identity::kBytesMax)
      item.identity.name.resize(Identity::kBytesMax);
    item.rate = static_cast<double>(key.low) / seconds;
    item.writes = static_cast<double>(key.writes) / seconds;
    item.hits = static_cast<double>(key.hits) / seconds;
    moment.items.push_back(std::move(item));
  }
  moment.unnamed_max[static_cast<std::size_t>(kind)] =
      highest_of_rest(list, count, absent_max, seconds);
}

}  // namespace

const char* to_string(Kind kind) { return kind == Kind::kKey ? "key" : "template"; }

Moment moment_of(const detect::Summary& summary, const Show& show, bool hides_templates) {
  Moment moment;
  moment.at = summary.at;
  moment.window = summary.window;
  const double seconds = summary.seconds();
  if (!(seconds > 0)) return moment;
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  moment.totals.requests = rate(summary.total());
  moment.totals.reads = rate(summary.reads);
  moment.totals.writes = rate(summary.writes);
  moment.totals.hits = rate(summary.hits);
  add(moment, Kind::kKey, summary.keys, summary.absent_max, seconds, show);
  if (summary.templates && !hides_templates) {
    add(moment, Kind::kTemplate, summary.templates->list, summary.templates->absent_max, seconds,
        [](std::string_view name) { return std::string(name); });
  }
  return moment;
}

}  // namespace heatsink::heat
