// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::Align;
using tui::Color;
using tui::count_text;
using tui::percent_text;
using tui::Style;

// Half of the interval, or more where the estimate is not in its middle.
double error_of(const KeyView& key) {
  return std::max({key.rate - key.rate_low, key.rate_high - key.rate, 0.0});
}

// Bytes say so; everything else is a number of accesses.
std::string amount_text(const KeyView& key, double amount) {
  return count_text(amount) + (key.dimension == "bytes" ? "B" : "");
}

std::string state_of(const KeyView& key) {
  // The level that is usual goes without saying.
  const std::string cached = key.level == "key" ? "cached" : "cached (" + key.level + ")";
  if (key.cached) return key.verdict == "hot" ? cached : key.verdict + ", " + cached;
  if (key.verdict != "hot" || key.cache_note.empty()) return key.verdict;
  return "hot: " + key.cache_note;
}

Style style_of(const KeyView& key) {
  if (key.verdict == "write-hot") return {Color::kMagenta, true};
  if (key.verdict != "hot") return {Color::kYellow};
  return {key.cached ? Color::kGreen : Color::kRed, true};
}

// With the numbers' natural widths the columns that are not optional fit in 80.
std::vector<tui::Column> columns() {
  return {{"#"},
          {"KEY", Align::kLeft, 18},
          {"DB", Align::kRight, 0, 2},
          {"RATE/s"},
          {"ERR"},
          {"SHARE"},
          {"RD/s"},
          {"WR/s"},
          {"HITS"},
          {"STATE", Align::kLeft, 9},
          {"SINCE"},
          {"MISS/s", Align::kRight, 0, 3},
          {"WHY", Align::kLeft, 20, 4}};
}

std::vector<tui::TableCell> cells(std::size_t rank, const KeyView& key) {
  const Style style = style_of(key);
  const double error = error_of(key);
  return {{std::to_string(rank), {}},
          {key.name.empty() ? "\"\"" : key.name, style},
          {std::to_string(key.db), {}},
          {amount_text(key, key.rate), {.bold = true}},
          {error > 0 ? "±" + amount_text(key, error) : "0", {}},
          {percent_text(key.share), {}},
          {count_text(key.reads_rate), {}},
          {count_text(key.writes_rate), {}},
          {percent_text(key.hit_ratio), {}},
          {state_of(key), style},
          {tui::age_text(key.age), {}},
          {count_text(std::max(key.reads_rate - key.hits_rate, 0.0)), {}},
          {key.reason, {.dim = true}}};
}

}  // namespace

void draw_keys(tui::Screen& screen, const tui::Area& area,
               const std::vector<const KeyView*>& keys) {
  if (keys.empty() || area.size.height <= 1) return;
  tui::Table table(columns());
  const auto room = static_cast<std::size_t>(area.size.height - 1);
  for (std::size_t i = 0; i < std::min(room, keys.size()); ++i) table.add(cells(i + 1, *keys[i]));
  table.draw(screen, area, {.bold = true, .reverse = true});
}

}  // namespace heatsink::app
