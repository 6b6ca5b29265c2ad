// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/past.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/resp/resp.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using heat::Kind;

constexpr std::size_t kRememberedSteps = 60;  // as many as a curve shows

WallTime wall_of(TimePoint since_1970) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(since_1970.time_since_epoch()));
}

double unnamed_max(const heat::HeatMap::Step& step, Kind kind) {
  return static_cast<double>(step.unnamed_max[static_cast<std::size_t>(kind)]);
}

double total(const heat::HeatMap::Step& step, std::size_t which) {
  return static_cast<double>(step.totals[which]);
}

// The last step that begins at `at` or before.
std::optional<std::size_t> step_at(const heat::HeatMap& map, WallTime at) {
  const auto after = std::ranges::upper_bound(
      map.steps, at, {}, [](const heat::HeatMap::Step& step) { return wall_of(step.begin); });
  if (after == map.steps.begin()) return std::nullopt;
  const auto found = static_cast<std::size_t>(after - map.steps.begin()) - 1;
  if (at - wall_of(map.steps[found].begin) > map.step + kGapMax) return std::nullopt;
  return found;
}

KeyView key_of(const heat::HeatMap& map, const heat::HeatMap::Row& row, std::size_t step) {
  KeyView key;
  key.name = printable(row.identity.name, heat::Identity::kBytesMax);
  key.raw_name = row.identity.name;
  key.name_truncated = row.identity.is_cut;
  key.db = row.identity.db;
  key.rate = key.rate_low = heat::rate_of(row.mean[step]);
  key.rate_high = kUnknown;
  key.share = std::min(key.rate / std::max(total(map.steps[step], 0), key.rate), 1.0);
  key.writes_rate = std::min(heat::rate_of(row.writes[step]), key.rate);
  key.reads_rate = key.rate - key.writes_rate;
  key.hits_rate = std::min(heat::rate_of(row.hits[step]), key.reads_rate);
  key.misses_rate = key.reads_rate - key.hits_rate;
  key.hit_ratio = key.reads_rate > 0 ? key.hits_rate / key.reads_rate : 0;
  key.dimension = "requests";
  key.window = map.window;
  return key;
}

NodeView totals_of(const heat::HeatMap::Step& step, const NodeView& now) {
  NodeView node;
  node.upstream = now.upstream;
  node.upstream_up = true;
  node.requests_rate = total(step, 0);
  node.reads_rate = total(step, 1);
  node.writes_rate = total(step, 2);
  node.hits_rate = total(step, 3);
  node.misses_rate = node.reads_rate - node.hits_rate;
  node.hit_ratio = node.reads_rate > 0 ? node.hits_rate / node.reads_rate : kUnknown;
  node.commands_rate = total(step, 4);
  node.server_commands_rate = total(step, 5);
  node.offload =
      node.commands_rate > 0 ? 1 - node.server_commands_rate / node.commands_rate : kUnknown;
  node.absent_max = unnamed_max(step, Kind::kKey);
  node.redacted = now.redacted;
  return node;
}

void add_place(const heat::Identity& identity, double rate, HotkeysView& view) {
  view.cluster = true;
  if (identity.kind == Kind::kNode) {
    NodeView& node = view.nodes.emplace_back();
    node.upstream = printable(identity.name);
    node.upstream_up = true;
    node.requests_rate = rate;
    node.reads_rate = node.writes_rate = kUnknown;
    return;
  }
  SlotView slot;
  const char* const end = identity.name.data() + identity.name.size();
  if (std::from_chars(identity.name.data(), end, slot.slot).ec != std::errc()) return;
  slot.slot %= resp::kSlots;
  slot.rate = rate;
  view.slots.push_back(std::move(slot));
}

std::vector<KeyView> keys_of(const heat::HeatMap& map, std::size_t step, Kind kind) {
  std::vector<KeyView> out;
  for (const heat::HeatMap::Row& row : map.rows)
    if (row.identity.kind == kind && row.mean[step] > 0) out.push_back(key_of(map, row, step));
  std::ranges::stable_sort(out, std::ranges::greater(), &KeyView::rate);
  return out;
}

std::string headline_of(const HotkeysView& view) {
  std::string out = view.keys.size() == 1 ? "1 key" : fmt::format("{} keys", view.keys.size());
  if (known(view.node.absent_max) > 0)
    out += fmt::format("; one that is not listed had at most {}",
                       tui::rate_text(view.node.absent_max));
  return out;
}

HotkeysView view_of(const heat::HeatMap& map, std::size_t step, const HotkeysView& now) {
  HotkeysView view;
  view.window = map.window;
  view.node = totals_of(map.steps[step], now.node);
  view.keys = keys_of(map, step, Kind::kKey);
  view.headline = headline_of(view);
  for (const heat::HeatMap::Row& row : map.rows)
    if ((row.identity.kind == Kind::kNode || row.identity.kind == Kind::kSlot) &&
        row.mean[step] > 0)
      add_place(row.identity, heat::rate_of(row.mean[step]), view);
  TemplatesView templates{.list = keys_of(map, step, Kind::kTemplate)};
  double rest = view.node.requests_rate;
  for (const KeyView& each : templates.list) rest -= each.rate;
  templates.rest_low = templates.rest_high = std::max(rest, 0.0);
  if (!templates.list.empty()) view.templates = std::move(templates);
  return view;
}

// Shares are of all accesses in the time that the source looked at; its rate of requests may be of
// another time, as between two windows of MONITOR.
double total_of(const HotkeysView& view) {
  for (const KeyView& key : view.keys)
    if (key.dimension == "requests" && key.rate > 0 && key.share > 0) return key.rate / key.share;
  return known(view.node.requests_rate);
}

heat::Item item_of(const KeyView& key, Kind kind) {
  heat::Item item;
  item.identity = {.kind = kind,
                   .db = static_cast<std::uint32_t>(key.db),
                   .is_cut = key.name_truncated || key.raw_name.size() > heat::Identity::kBytesMax,
                   .name = key.raw_name.substr(0, heat::Identity::kBytesMax)};
  item.rate = known(key.rate);
  item.writes = known(key.writes_rate);
  item.hits = known(key.hits_rate);
  item.bytes = known(key.bytes_rate);
  return item;
}

// The busiest of a kind; the next one bounds what is not named, as far as that is known.
void add_busiest(std::vector<heat::Item> items, Kind kind, double absent_max,
                 heat::Moment& moment) {
  const auto at = static_cast<std::size_t>(kind);
  std::ranges::stable_sort(items, std::ranges::greater(), &heat::Item::rate);
  const std::size_t named = std::min(items.size(), heat::kPerMoment[at]);
  moment.unnamed_max[at] =
      named < items.size() ? std::max(known(absent_max), items[named].rate) : absent_max;
  items.resize(named);
  std::ranges::move(items, std::back_inserter(moment.items));
}

}  // namespace

std::optional<PastMoment> past_moment(const heat::HeatMap& map, WallTime at,
                                      const HotkeysView& now) {
  const std::optional<std::size_t> found = step_at(map, at);
  if (!found) return std::nullopt;
  PastMoment out{.at = wall_of(map.steps[*found].begin),
                 .step = map.step,
                 .view = view_of(map, *found, now),
                 .requests = {},
                 .hits = {}};
  const std::size_t first = *found + 1 - std::min(*found + 1, kRememberedSteps);
  for (std::size_t step = first; step <= *found; ++step) {
    out.requests.push_back(known(total(map.steps[step], 0)));
    out.hits.push_back(known(total(map.steps[step], 3)));
    out.histories.add(keys_of(map, step, Kind::kKey));
  }
  return out;
}

heat::Moment moment_of(const HotkeysView& view, TimePoint at) {
  heat::Moment moment;
  moment.at = at;
  moment.window = view.window;
  moment.totals.requests = total_of(view);
  moment.totals.reads = view.node.reads_rate;
  moment.totals.writes = view.node.writes_rate;
  moment.totals.hits = view.node.hits_rate;
  std::vector<heat::Item> keys, templates, nodes, slots;
  for (const KeyView& key : view.keys)
    if (key.dimension == "requests") keys.push_back(item_of(key, Kind::kKey));
  add_busiest(std::move(keys), Kind::kKey, view.node.absent_max, moment);
  if (view.templates) {
    for (const KeyView& each : view.templates->list)
      templates.push_back(item_of(each, Kind::kTemplate));
    add_busiest(std::move(templates), Kind::kTemplate, view.templates->rest_high, moment);
  }
  double sum = 0;
  for (const NodeView& node : view.nodes) {
    sum += known(node.requests_rate);
    nodes.push_back({.identity = {.kind = Kind::kNode, .name = node.upstream},
                     .rate = known(node.requests_rate)});
  }
  for (const SlotView& slot : view.slots)
    if (slot.rate > 0)
      slots.push_back({.identity = {.kind = Kind::kSlot, .name = std::to_string(slot.slot)},
                       .rate = slot.rate});
  if (!view.nodes.empty()) moment.totals.node_commands = sum;
  if (!nodes.empty()) add_busiest(std::move(nodes), Kind::kNode, 0, moment);
  if (!slots.empty()) add_busiest(std::move(slots), Kind::kSlot, heat::kNotKnown, moment);
  return moment;
}

}  // namespace heatsink::app
