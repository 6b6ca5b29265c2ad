// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/top/paint.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::Align;
using tui::count_text;
using tui::percent_text;
using tui::TableCell;

constexpr int kTrendColumns = 8;

struct Shown {
  std::size_t rank;
  const KeyView& key;
  std::size_t keys;
  std::string trend;
};

struct Field {
  tui::Column column;
  TableCell (*cell)(const Shown&);
};

std::string error_text(const KeyView& key) {
  const double error = error_of(key);
  return std::isnan(error) ? "-" : error > 0 ? "±" + amount_text(key, error) : "0";
}

// Decides which columns are useful in this table.
struct Worth {
  bool keys, db, trend, hits, kept, latency;
  int state_width;  // of the longest state without its reason
};

// At their natural widths the columns that are not optional fit in 80.
std::vector<Field> fields(const Worth& worth) {
  std::vector<Field> out{{{"#"},
                          [](const Shown& s) {
                            return TableCell{std::to_string(s.rank), {}};
                          }},
                         {{"KEY", Align::kLeft, 18}, [](const Shown& s) {
                            return TableCell{shown_name(s.key), style_of(s.key)};
                          }}};
  const auto add = [&out](tui::Column column, TableCell (*cell)(const Shown&)) {
    out.push_back({std::move(column), cell});
  };
  if (worth.keys)
    add({"KEYS"}, [](const Shown& s) {
      return TableCell{s.keys == 0 ? "" : std::to_string(s.keys), {}};
    });
  if (worth.db)
    add({"DB", Align::kRight, 0, 2}, [](const Shown& s) {
      return TableCell{std::to_string(s.key.db), {}};
    });
  add({"RATE/s"}, [](const Shown& s) { return TableCell{amount_text(s.key, s.key.rate), kBold}; });
  if (worth.trend)
    add({"TREND", Align::kRight, 0, 1}, [](const Shown& s) {
      return TableCell{s.trend, {.color = tui::Color::kBlue}};
    });
  add({"ERR"}, [](const Shown& s) { return TableCell{error_text(s.key), {}}; });
  add({"SHARE"}, [](const Shown& s) { return TableCell{percent_text(s.key.share), {}}; });
  add({"RD/s"}, [](const Shown& s) { return TableCell{count_text(s.key.reads_rate), {}}; });
  add({"WR/s"}, [](const Shown& s) { return TableCell{count_text(s.key.writes_rate), {}}; });
  if (worth.hits)
    add({"HITS"}, [](const Shown& s) { return TableCell{percent_text(s.key.hit_ratio), {}}; });
  if (worth.kept)
    add({"KEPT", Align::kRight, 0, 2}, [](const Shown& s) {
      return TableCell{s.key.kept_by > 0 ? std::to_string(s.key.kept_by) : "", {}};
    });
  // A reason may be cut, the state's own words may not. The columns behind go first.
  add({"STATE", Align::kLeft, worth.state_width, 0, 2}, [](const Shown& s) {
    return TableCell{state_of(s.key), style_of(s.key)};
  });
  add({"SINCE", Align::kRight, 0, 3}, [](const Shown& s) {
    return TableCell{s.key.verdict.empty() ? "" : tui::age_text(s.key.age), {}};
  });
  add({"BYTES/s", Align::kRight, 0, 4}, [](const Shown& s) {
    return TableCell{count_text(s.key.bytes_rate), {}};
  });
  add({"MISS/s", Align::kRight, 0, 5}, [](const Shown& s) {
    return TableCell{count_text(s.key.misses_rate), {}};
  });
  if (worth.latency)
    add({"P99", Align::kRight, 0, 2}, [](const Shown& s) {
      return TableCell{s.key.latency_p99 ? tui::latency_text(*s.key.latency_p99) : "-", {}};
    });
  add({"WHY", Align::kLeft, 20, 6}, [](const Shown& s) { return TableCell{s.key.reason, kDim}; });
  return out;
}

Worth worth_of(const TopModel& model, const TopRows& rows) {
  int state_width = 9;
  for (const TopRow& row : rows.rows)
    state_width = std::max(state_width, tui::display_width(state_words(*row.key)));
  const auto key = [](const TopRow& row) -> const KeyView& { return *row.key; };
  return {.keys = std::ranges::any_of(rows.rows, [](const TopRow& row) { return row.keys > 0; }),
          .db = std::ranges::any_of(
              rows.rows, [](const KeyView& k) { return k.db != 0; }, key),
          .trend = model.answers > 1,
          .hits = std::ranges::any_of(
              rows.rows, [](const KeyView& k) { return !std::isnan(k.hits_rate); }, key),
          .kept = std::ranges::any_of(
              rows.rows, [](const KeyView& k) { return k.kept_by > 0; }, key),
          .latency = std::ranges::any_of(
              rows.rows, [](const KeyView& k) { return k.latency_p99.has_value(); }, key),
          .state_width = state_width};
}

std::vector<TableCell> cells(const std::vector<Field>& fields, const Shown& shown) {
  std::vector<TableCell> out;
  out.reserve(fields.size());
  for (const Field& field : fields) out.push_back(field.cell(shown));
  return out;
}

// Scaled to all remembered values, so that a fall is visible.
std::string trend_of(const TopModel& model, const TopRow& row) {
  const std::vector<double> rates = model.history_of(row);
  const double top = rates.empty() ? 0 : *std::ranges::max_element(rates);
  return tui::sparkline(rates, top, kTrendColumns);
}

}  // namespace

void draw_keys(tui::Screen& screen, const tui::Area& area, const TopModel& model,
               const TopRows& rows, bool with_cursor) {
  if (rows.rows.empty() || area.size.height <= 1) return;
  const auto room = static_cast<std::size_t>(area.size.height - 1);
  const std::size_t cursor = model.cursor_in(rows);
  const std::size_t first = cursor / room * room;
  const Worth worth = worth_of(model, rows);
  const std::vector<Field> fields = app::fields(worth);
  std::vector<tui::Column> columns;
  columns.reserve(fields.size());
  for (const Field& field : fields) columns.push_back(field.column);
  tui::Table table(std::move(columns));
  for (std::size_t i = first; i < std::min(first + room, rows.rows.size()); ++i) {
    const TopRow& row = rows.rows[i];
    table.add(cells(
        fields, {i + 1, *row.key, row.keys, worth.trend ? trend_of(model, row) : std::string()}));
  }
  table.draw(screen, area, kTitles);
  if (with_cursor)
    screen.paint_row(area.row + 1 + static_cast<int>(cursor - first), {.reverse = true});
}

}  // namespace heatsink::app
