// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/moment.h"

#include <algorithm>
#include <functional>
#include <iterator>
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

Identity identity_of(Kind kind, const detect::KeyCount& key, const Show& show) {
  Identity out{.kind = kind, .db = key.db, .name = show(key.key)};
  out.is_cut = key.key_truncated || out.name.size() > Identity::kBytesMax;
  if (out.name.size() > Identity::kBytesMax) out.name.resize(Identity::kBytesMax);
  return out;
}

// Names that are cut to the same beginning are one item.
void add(Moment& moment, Kind kind, const std::vector<detect::KeyCount>& list,
         std::uint64_t absent_max, double seconds, const Show& show, const BytesOf& bytes_of) {
  const std::size_t count = std::min(list.size(), kPerMoment[static_cast<std::size_t>(kind)]);
  std::vector<Item> items;
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const detect::KeyCount& key = list[i];
    Identity identity = identity_of(kind, key, show);
    auto item = identity.is_cut ? std::ranges::find(items, identity, &Item::identity) : items.end();
    if (item == items.end())
      item = items.insert(item, {.identity = std::move(identity), .rate_high = 0});
    item->rate += static_cast<double>(key.low) / seconds;
    item->rate_high += static_cast<double>(key.high) / seconds;
    item->writes += static_cast<double>(key.writes) / seconds;
    item->hits += static_cast<double>(key.hits) / seconds;
    item->bytes += bytes_of(kind, key) / seconds;
  }
  if (items.size() < count) std::ranges::stable_sort(items, std::greater(), &Item::rate_high);
  std::ranges::move(items, std::back_inserter(moment.items));
  moment.unnamed_max[static_cast<std::size_t>(kind)] =
      highest_of_rest(list, count, absent_max, seconds);
}

}  // namespace

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::kKey:
      return "key";
    case Kind::kTemplate:
      return "template";
    case Kind::kSlot:
      return "slot";
    case Kind::kNode:
      return "node";
    case Kind::kClient:
      return "client";
  }
  return "";
}

double counted_bytes(Kind /*kind*/, const detect::KeyCount& key) {
  return static_cast<double>(key.bytes);
}

Moment moment_of(const detect::Summary& summary, const Show& show, bool hides_templates,
                 const BytesOf& bytes_of) {
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
  moment.totals.bytes = rate(summary.bytes);
  add(moment, Kind::kKey, summary.keys, summary.absent_max, seconds, show, bytes_of);
  if (summary.templates && !hides_templates) {
    add(
        moment, Kind::kTemplate, summary.templates->list, summary.templates->absent_max, seconds,
        [](std::string_view name) { return std::string(name); }, bytes_of);
  }
  return moment;
}

}  // namespace heatsink::heat
