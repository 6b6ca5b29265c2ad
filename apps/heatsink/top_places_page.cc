// SPDX-License-Identifier: Apache-2.0
// Where the load is: by node, and by slot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/key_facts.h"
#include "apps/heatsink/top_pages.h"
#include "apps/heatsink/top_paint.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::Align;
using tui::count_text;
using tui::percent_text;

// What the listed keys of one place add up to.
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

// Slots by what is counted of them: by the source, or of the listed keys.
struct SlotRow {
  std::uint16_t slot;
  std::string node;
  double rate, reads, writes;
  Sum keys;
};

std::vector<SlotRow> slot_rows(const HotkeysView& view) {
  std::map<std::uint16_t, Sum> sums;
  for (const KeyView& key : view.keys)
    if (const auto slot = slot_of(key)) sums[*slot].add(key);
  std::vector<SlotRow> rows;
  for (const SlotView& slot : view.slots) {
    rows.push_back({slot.slot, slot.node, slot.requests_rate, slot.reads_rate, slot.writes_rate,
                    sums.contains(slot.slot) ? sums.at(slot.slot) : Sum{}});
  }
  if (view.slots.empty()) {
    for (const auto& [slot, sum] : sums)
      rows.push_back({slot, sum.busiest->node, sum.rate, sum.reads, sum.writes, sum});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const SlotRow& row) { return std::isnan(row.rate) ? 0 : row.rate; });
  return rows;
}

std::string about_slots(const HotkeysView& view) {
  if (!view.slots.empty()) return "counted by the server, busiest first";
  std::string out = fmt::format(
      "what the {} listed keys add up to, busiest first: keys that are not even warm are missing",
      view.keys.size());
  if (!view.cluster)
    out += "; this server is no cluster, in one these would be the slots of its keys";
  return out;
}

}  // namespace

tui::Screen draw_nodes_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  sheet.add("all",
            fmt::format("requests {}, reads {}, writes {}, hits {} ({} of the load)",
                        tui::rate_text(view.node.requests_rate),
                        tui::rate_text(view.node.reads_rate), tui::rate_text(view.node.writes_rate),
                        tui::rate_text(view.node.hits_rate), percent_text(view.node.offload)));
  sheet.add("copies", fmt::format("{} ({})", view.node.cached_entries,
                                  tui::size_text(view.node.cached_bytes)));
  sheet.skip();
  const std::vector<NodeView> only{view.node};
  const std::vector<NodeView>& nodes = view.nodes.empty() ? only : view.nodes;
  std::map<std::string, Sum> sums;
  for (const KeyView& key : view.keys) sums[view.nodes.empty() ? "" : key.node].add(key);
  tui::Table table({{"NODE", Align::kLeft, 21},
                    {"REQ/s"},
                    {"SHARE"},
                    {"RD/s"},
                    {"WR/s"},
                    {"KEYS"},
                    {"IN KEYS"},
                    {"BUSIEST KEY", Align::kLeft, 18}});
  for (const NodeView& node : nodes) {
    const Sum& sum = sums[view.nodes.empty() ? "" : node.upstream];
    table.add({{node.upstream, node.upstream_up ? kBold : kBad},
               {count_text(node.requests_rate), kBold},
               {share_text(node.requests_rate, view.node.requests_rate), {}},
               {count_text(node.reads_rate), {}},
               {count_text(node.writes_rate), {}},
               {std::to_string(sum.keys), {}},
               {share_text(sum.rate, node.requests_rate), {}},
               busiest_cell(sum)});
  }
  return with_table(sheet, table, nodes.size());
}

tui::Screen draw_slots_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  const std::vector<SlotRow> rows = slot_rows(view);
  sheet.add("slots", about_slots(view), kDim);
  sheet.skip();
  tui::Table table({{"SLOT"},
                    {"RATE/s"},
                    {"SHARE"},
                    {"RD/s"},
                    {"WR/s"},
                    {"KEYS"},
                    {"BUSIEST KEY", Align::kLeft, 18},
                    {"NODE", Align::kLeft, 14, 1}});
  for (const SlotRow& row : rows) {
    table.add({{std::to_string(row.slot), kBold},
               {count_text(row.rate), kBold},
               {share_text(row.rate, view.node.requests_rate), {}},
               {count_text(row.reads), {}},
               {count_text(row.writes), {}},
               {std::to_string(row.keys.keys), {}},
               busiest_cell(row.keys),
               {row.node, {}}});
  }
  return with_table(sheet, table, rows.size());
}

}  // namespace heatsink::app
