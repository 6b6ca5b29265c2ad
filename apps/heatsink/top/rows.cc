// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

void add(std::vector<TallyView>& sums, const std::vector<TallyView>& tallies) {
  for (const TallyView& tally : tallies) {
    const auto found = std::ranges::find(sums, tally.name, &TallyView::name);
    if (found == sums.end()) {
      sums.push_back(tally);
      continue;
    }
    found->count += tally.count;
    found->doubt += tally.doubt;
  }
}

void keep_busiest(std::vector<TallyView>& tallies) {
  std::ranges::stable_sort(tallies, std::ranges::greater{}, &TallyView::count);
  if (tallies.size() > detect::kTalliesMax) tallies.resize(detect::kTalliesMax);
}

int heat(const KeyView& key) {
  return key.verdict == "hot" ? 3 : key.verdict == "write-hot" ? 2 : key.verdict == "warm" ? 1 : 0;
}

// The state of the hottest key, without values that only a single key can have.
KeyView start_of_sum(const std::vector<const KeyView*>& keys) {
  const KeyView& hottest = **std::ranges::max_element(
      keys, {}, [](const KeyView* key) { return std::pair(heat(*key), sort_value(*key, {})); });
  KeyView sum;
  sum.raw_name = detect::key_template(hottest.raw_name);
  sum.name = one_line(sum.raw_name, kPrintableBytesMax);
  sum.db = hottest.db;
  sum.rule = hottest.rule;
  sum.dimension = hottest.dimension;
  sum.window = hottest.window;
  sum.verdict = hottest.verdict;
  if (!hottest.verdict.empty()) sum.reason = "hottest: " + hottest.name + ": " + hottest.reason;
  sum.level = hottest.level;
  sum.age = hottest.age;
  sum.bytes_rate = 0;
  return sum;
}

KeyView folded(const std::vector<const KeyView*>& keys) {
  KeyView sum = start_of_sum(keys);
  std::size_t cached = 0;
  double spared = 0;
  for (const KeyView* key : keys) {
    sum.rate += key->rate;
    sum.rate_low += key->rate_low;
    sum.rate_high += key->rate_high;
    sum.share += key->share;
    sum.reads_rate += key->reads_rate;
    sum.writes_rate += key->writes_rate;
    sum.hits_rate += key->hits_rate;
    sum.misses_rate += key->misses_rate;
    sum.bytes_rate += key->bytes_rate;
    spared += key->offload * (key->reads_rate + key->writes_rate);
    cached += key->cached ? 1 : 0;
    add(sum.commands, key->commands);
    add(sum.clients, key->clients);
  }
  keep_busiest(sum.commands);
  keep_busiest(sum.clients);
  sum.hit_ratio = sum.reads_rate > 0 ? sum.hits_rate / sum.reads_rate : 0;
  const double accesses = sum.reads_rate + sum.writes_rate;
  sum.offload = accesses > 0 ? spared / accesses : 0;
  sum.cached = cached == keys.size();
  if (!sum.cached) sum.cache_note = fmt::format("{} of {} cached", cached, keys.size());
  return sum;
}

using Groups = std::map<KeyId, std::vector<const KeyView*>>;

// The counts of the template, and the state of its listed keys.
KeyView counted(const KeyView& counts, const std::vector<const KeyView*>& members) {
  if (members.empty()) {
    KeyView row = counts;
    row.reason = "none of its keys is listed";
    return row;
  }
  KeyView row = folded(members);
  row.raw_name = counts.raw_name;
  row.name = counts.name;
  row.rate = counts.rate;
  row.rate_low = counts.rate_low;
  row.rate_high = counts.rate_high;
  row.share = counts.share;
  row.reads_rate = counts.reads_rate;
  row.writes_rate = counts.writes_rate;
  row.hits_rate = counts.hits_rate;
  row.misses_rate = counts.misses_rate;
  row.hit_ratio = counts.hit_ratio;
  row.offload = kUnknown;     // counted for keys only
  row.bytes_rate = kUnknown;  // that of the listed keys would be far too low
  return row;
}

// Moves the groups of counted templates to rows.
void add_counted(const TemplatesView& templates, const KeyFilter& filter, Groups& groups,
                 TopRows& out) {
  for (const KeyView& each : templates.list) {
    const auto found = groups.find(id_of(each));
    std::vector<const KeyView*> members;
    if (found != groups.end()) members = found->second;
    if (members.empty() && !filter.matches(each)) continue;
    if (members.size() == 1 && members.front()->raw_name == each.raw_name) continue;
    out.folded.push_back(counted(each, members));
    out.rows.push_back({&out.folded.back(), members.size(), true, true});
    if (found != groups.end()) groups.erase(found);
  }
}

TopRows fold(const std::vector<const KeyView*>& keys, const HotkeysView& view,
             const KeyFilter& filter) {
  Groups groups;
  for (const KeyView* key : keys) groups[template_of(*key)].push_back(key);
  TopRows out;
  if (view.templates) add_counted(*view.templates, filter, groups, out);
  for (const auto& [id, members] : groups) {
    if (members.size() == 1) {
      out.rows.push_back({members.front()});
    } else {
      out.folded.push_back(folded(members));
      out.rows.push_back({&out.folded.back(), members.size(), true});
    }
  }
  return out;
}

std::vector<const KeyView*> wanted(const HotkeysView& view, const RowChoices& choices) {
  std::vector<const KeyView*> out;
  for (const KeyView& key : view.keys) {
    if (!choices.filter.matches(key)) continue;
    if (choices.group && template_of(key) != *choices.group) continue;
    out.push_back(&key);
  }
  return out;
}

void sort(std::vector<TopRow>& rows, Order order) {
  const auto value = [order](const TopRow& row) { return sort_value(*row.key, order.by); };
  if (order.reversed)
    std::ranges::stable_sort(rows, std::ranges::less{}, value);
  else
    std::ranges::stable_sort(rows, std::ranges::greater{}, value);
}

}  // namespace

TopRows rows_of(const HotkeysView& view, const RowChoices& choices) {
  const std::vector<const KeyView*> keys = wanted(view, choices);
  TopRows out;
  if (choices.templates && !choices.group) {
    out = fold(keys, view, choices.filter);
  } else {
    for (const KeyView* key : keys) out.rows.push_back({key});
  }
  out.keys = keys.size();
  sort(out.rows, choices.order);
  if (choices.limit > 0 && out.rows.size() > choices.limit) out.rows.resize(choices.limit);
  return out;
}

}  // namespace heatsink::app
