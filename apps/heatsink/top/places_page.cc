// SPDX-License-Identifier: Apache-2.0
// Draws where the load is: by node and by slot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/top/key_facts.h"
#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/paint.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::Align;
using tui::count_text;
using tui::percent_text;

// The sum of the listed keys of one place.
struct Sum {
  double rate = 0, reads = 0, writes = 0;
  std::size_t keys = 0;
  const KeyView* busiest = nullptr;

  void add(const KeyView& key) {
    const double accesses = accesses_rate(key);
    rate += std::isnan(accesses) ? 0 : accesses;
    reads += key.reads_rate;
    writes += key.writes_rate;
    ++keys;
    if (busiest == nullptr || accesses > accesses_rate(*busiest)) busiest = &key;
  }
};

tui::TableCell busiest_cell(const Sum& sum) {
  if (sum.busiest == nullptr) return {};
  return {shown_name(*sum.busiest), style_of(*sum.busiest)};
}

tui::Screen with_table(const Sheet& sheet, const tui::Table& table, std::size_t rows) {
  const int more = static_cast<int>(std::min<std::size_t>(rows, tui::Screen::kSideMax)) + 1;
  tui::Screen screen = sheet.screen(more);
  table.draw(screen, {0, sheet.lines(), {sheet.width(), more}}, kTitles);
  return screen;
}

std::string share_text(double part, double whole) {
  return percent_text(whole > 0 ? part / whole : std::nan(""));
}

// Prefers the nodes' own figures to the sums of a source that sees only some of them.
NodeView sum_of(const HotkeysView& view) {
  NodeView all = view.node;
  if (view.sources.empty() || view.nodes.empty()) return all;
  all.requests_rate = all.reads_rate = all.writes_rate = 0;
  for (const NodeView& node : view.nodes) {
    all.requests_rate += std::isnan(node.requests_rate) ? 0 : node.requests_rate;
    all.reads_rate += std::isnan(node.reads_rate) ? 0 : node.reads_rate;
    all.writes_rate += std::isnan(node.writes_rate) ? 0 : node.writes_rate;
  }
  return all;
}

void add_all(Sheet& sheet, const HotkeysView& view, const NodeView& all) {
  std::string rates =
      fmt::format("requests {}, reads {}, writes {}", tui::rate_text(all.requests_rate),
                  tui::rate_text(all.reads_rate), tui::rate_text(all.writes_rate));
  // An observed server has no proxy, so there are no copies.
  const bool observed = !view.sources.empty();
  if (!observed)
    rates += fmt::format(", hits {}, load taken off {}", tui::rate_text(all.hits_rate),
                         tui::signed_percent_text(all.offload));
  if (!std::isnan(all.cpu_offload))
    rates += fmt::format(", of the CPU time about {}", tui::signed_percent_text(all.cpu_offload));
  sheet.add("all", rates);
  if (std::isnan(all.cpu_offload) && !all.cpu_unknown.empty())
    sheet.add("CPU", "the CPU time taken off is unknown: " + all.cpu_unknown);
  if (!observed && !view.is_past)
    sheet.add("copies",
              fmt::format("{} ({})", all.cached_entries, tui::size_text(all.cached_bytes)));
  for (const NodeView& node : view.nodes) {
    if (!node.trouble.empty()) sheet.add("down", node.upstream + ": " + node.trouble, kBad);
  }
}

std::map<std::uint16_t, Sum> sums_by_slot(const HotkeysView& view) {
  std::map<std::uint16_t, Sum> sums;
  for (const KeyView& key : view.keys)
    if (const auto slot = slot_of(key)) sums[*slot].add(key);
  return sums;
}

// Whether any slot has this figure: empty columns are left out.
bool knows(const std::vector<SlotView>& slots, double SlotView::*figure) {
  return std::ranges::any_of(slots,
                             [figure](const SlotView& slot) { return !std::isnan(slot.*figure); });
}

std::string about_slots(const HotkeysView& view) {
  if (view.is_past && !view.slots.empty())
    return "RATE/s: what went to the servers then, busiest first; "
           "the history keeps the busiest ones";
  if (view.sources.empty() && view.slots_by_cpu)
    return "RATE/s: what this proxy sends; CPU: share of its node's CPU time, of all clients, "
           "as the servers count it, busiest first";
  if (view.sources.empty() && !view.slot_advice.empty())
    return "RATE/s: what this proxy sends, busiest first; other clients are not seen";
  if (knows(view.slots, &SlotView::rate))
    return "sums of the estimates of all scanned keys, busiest first. "
           "Use them to compare slots; a slot with many cold keys is shown too high";
  if (!view.slots.empty())
    return "counted by the servers, busiest first; CPU: share of its node's CPU";
  std::string out =
      fmt::format("sums of the {} listed keys, busiest first; keys that are not warm are missing",
                  view.keys.size());
  if (!view.cluster)
    out += "; this server is not a cluster: these are the slots its keys would have in one";
  return out;
}

// A figure that a source may know of a slot.
struct Figure {
  const char* title;
  double SlotView::*of;
  std::string (*text)(double);
};
constexpr Figure kFigures[] = {{"RATE/s", &SlotView::rate, count_text},
                               {"CPU", &SlotView::cpu_share, percent_text},
                               {"BYTES/s", &SlotView::bytes_rate, count_text}};

std::vector<const SlotView*> by_figure(const std::vector<SlotView>& slots,
                                       double SlotView::*figure) {
  std::vector<const SlotView*> rows;
  rows.reserve(slots.size());
  for (const SlotView& slot : slots) rows.push_back(&slot);
  if (figure == nullptr) return rows;
  std::ranges::stable_sort(rows, std::ranges::greater{}, [figure](const SlotView* row) {
    const double known = row->*figure;
    return std::isnan(known) ? 0 : known;
  });
  return rows;
}

// The source's own counts per slot; KEYS counts all keys of the slot.
tui::Table counted_slots(const HotkeysView& view) {
  const std::map<std::uint16_t, Sum> sums = sums_by_slot(view);
  std::vector<Figure> figures;
  for (const Figure& figure : kFigures)
    if (knows(view.slots, figure.of)) figures.push_back(figure);
  std::vector<tui::Column> columns{{"SLOT"}};
  for (const Figure& figure : figures) columns.push_back({figure.title});
  columns.insert(
      columns.end(),
      {{"KEYS"}, {"IN KEYS/s"}, {"BUSIEST KEY", Align::kLeft, 18}, {"NODE", Align::kLeft, 14, 1}});
  tui::Table table(std::move(columns));
  // The first figure that is known orders the slots.
  double SlotView::*const first = view.slots_by_cpu ? &SlotView::cpu_share
                                  : figures.empty() ? nullptr
                                                    : figures.front().of;
  for (const SlotView* slot : by_figure(view.slots, first)) {
    const auto found = sums.find(slot->slot);
    const Sum listed = found == sums.end() ? Sum{} : found->second;
    std::vector<tui::TableCell> row{{std::to_string(slot->slot), kBold}};
    for (const Figure& figure : figures)
      row.push_back({figure.text(slot->*figure.of), row.size() == 1 ? kBold : tui::Style()});
    row.insert(row.end(), {{count_text(slot->keys), {}},
                           {listed.keys == 0 ? "" : count_text(listed.rate), {}},
                           busiest_cell(listed),
                           {slot->node, {}}});
    table.add(std::move(row));
  }
  return table;
}

// Sums of the listed keys per slot.
tui::Table summed_slots(const HotkeysView& view, std::size_t& count) {
  tui::Table table({{"SLOT"},
                    {"RATE/s"},
                    {"SHARE"},
                    {"RD/s"},
                    {"WR/s"},
                    {"KEYS"},
                    {"BUSIEST KEY", Align::kLeft, 18},
                    {"NODE", Align::kLeft, 14, 1}});
  const std::map<std::uint16_t, Sum> sums = sums_by_slot(view);
  std::vector<std::pair<std::uint16_t, Sum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second.rate; });
  for (const auto& [slot, sum] : rows) {
    table.add({{std::to_string(slot), kBold},
               {count_text(sum.rate), kBold},
               {share_text(sum.rate, view.node.requests_rate), {}},
               {count_text(sum.reads), {}},
               {count_text(sum.writes), {}},
               {std::to_string(sum.keys), {}},
               busiest_cell(sum),
               {sum.busiest->node, {}}});
  }
  count = rows.size();
  return table;
}

}  // namespace

tui::Screen draw_nodes_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  const std::vector<NodeView> only{view.node};
  const std::vector<NodeView>& nodes = view.nodes.empty() ? only : view.nodes;
  const NodeView all = sum_of(view);
  add_all(sheet, view, all);
  for (const std::string& advice : view.slot_advice) sheet.add("slots", advice);
  // Behind a proxy the nodes get only what copies do not answer. So IN KEYS is not of what a node
  // gets: it is of all requests, and all nodes' shares together are at most the whole.
  const bool is_behind_proxy = view.sources.empty() && !view.nodes.empty();
  double whole = is_behind_proxy ? 0 : all.requests_rate;
  for (const NodeView& node : nodes) whole += is_behind_proxy ? known(node.requests_rate) : 0;
  sheet.skip();
  std::map<std::string, Sum> sums;
  for (const KeyView& key : view.keys) sums[view.nodes.empty() ? "" : key.node].add(key);
  const bool has_cpu =
      std::ranges::any_of(nodes, [](const NodeView& node) { return !std::isnan(node.cpu_cores); });
  std::vector<tui::Column> columns{{"NODE", Align::kLeft, 21}, {"REQ/s"}, {"SHARE"}};
  if (has_cpu) columns.insert(columns.end(), {{"CPU"}, {"BYTES/s"}});
  columns.insert(columns.end(),
                 {{"RD/s"}, {"WR/s"}, {"KEYS"}, {"IN KEYS"}, {"BUSIEST KEY", Align::kLeft, 18}});
  tui::Table table(std::move(columns));
  for (const NodeView& node : nodes) {
    const Sum& sum = sums[view.nodes.empty() ? "" : node.upstream];
    std::vector<tui::TableCell> row{{node.upstream, node.upstream_up ? kBold : kBad},
                                    {count_text(node.requests_rate), kBold},
                                    {share_text(node.requests_rate, whole), {}}};
    if (has_cpu)
      row.insert(row.end(),
                 {{percent_text(node.cpu_cores), {}}, {count_text(node.bytes_rate), {}}});
    row.insert(row.end(),
               {{count_text(node.reads_rate), {}},
                {count_text(node.writes_rate), {}},
                {node.is_watched ? std::to_string(sum.keys) : "-", {}},
                {share_text(sum.rate, std::isnan(node.requests_rate) ? node.requests_rate
                                                                     : all.requests_rate),
                 {}},
                busiest_cell(sum)});
    table.add(std::move(row));
  }
  return with_table(sheet, table, nodes.size());
}

tui::Screen draw_slots_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  sheet.add("slots", about_slots(view), kDim);
  sheet.skip();
  std::size_t rows = view.slots.size();
  const tui::Table table = view.slots.empty() ? summed_slots(view, rows) : counted_slots(view);
  return with_table(sheet, table, rows);
}

}  // namespace heatsink::app
