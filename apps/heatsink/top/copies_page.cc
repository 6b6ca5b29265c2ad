// SPDX-License-Identifier: Apache-2.0
// Draws the page of copies: which keys get one, what that saves, what another budget would save,
// and the copies that save most.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/paint.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::count_text;
using tui::percent_text;

std::string number_text(std::uint64_t count) { return count_text(static_cast<double>(count)); }

std::string ordinal(std::uint64_t number) {
  const bool is_teen = number % 100 / 10 == 1;
  const std::uint64_t last = is_teen ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string choice_text(const CopiesView& copies) {
  if (copies.reads == 0)
    return "nothing is copied: no choice would save the server 1 % of the reads";
  return fmt::format(
      "a key gets a copy at its {} read among {} reads of keys without a copy; "
      "copies leave a full cache in the order {}",
      ordinal(copies.reads), number_text(copies.history), copies.order);
}

std::string now_text(const HotkeysView& view, const CopiesView& copies) {
  return fmt::format("{} copies ({}), {} fit (cache.maximum-bytes {}); hits {}; load taken off {}",
                     view.node.cached_entries, tui::size_text(view.node.cached_bytes),
                     number_text(copies.entries_max), tui::size_text(copies.bytes_max),
                     tui::rate_text(view.node.hits_rate),
                     tui::signed_percent_text(view.node.offload));
}

// Where many commands come at once, a spared read is less than a microsecond.
std::string micros_text(Nanos cpu) {
  return fmt::format("{:.1f}us", std::chrono::duration<double, std::micro>(cpu).count());
}

std::string cpu_text(std::optional<Nanos> read_cpu) {
  if (!read_cpu) return "";
  return fmt::format("; a spared read is about {} of its CPU", micros_text(*read_cpu));
}

std::string scale_text(const char* whose, const CopiesView::Scale& scale) {
  return fmt::format("{} {:.2g}x{}", whose, scale.scale, scale.is_measured ? "" : " (believed)");
}

std::string prices_text(const CopiesView::Prices& prices) {
  return fmt::format(
      "{}, {}, {} of the built-in CPU times; a read waits {} longer for a fill than for the server",
      scale_text("server", prices.server), scale_text("keeper", prices.keeper),
      scale_text("workers", prices.worker), micros_text(prices.fill_wait));
}

void add_refusals(Sheet& sheet, const CopiesView& copies) {
  const std::pair<std::uint64_t, const char*> reasons[] = {
      {copies.seldom_read, "reads of keys that had been read too seldom"},
      {copies.written, "copies that a write ended before they had paid for their fill"},
      {copies.too_big, "values that are too big (cache.maximum-value-bytes)"},
      {copies.no_room, "fills without room, in the cache or in the server's table"}};
  std::string label = "no copy";
  for (const auto& [count, what] : reasons) {
    sheet.add(label, fmt::format("{} {}", number_text(count), what));
    label.clear();
  }
}

void add_budget(Sheet& sheet, const CopiesView& copies) {
  if (copies.curve.empty())
    return sheet.add("budget", "what other sizes would save is not known yet");
  sheet.add("budget", copies.advice, kBold);
  std::string curve;
  for (const CopiesView::Point& point : copies.curve)
    curve += fmt::format("{}{} {}{}", curve.empty() ? "" : ", ", number_text(point.entries),
                         curve.empty() ? "copies would save " : "", percent_text(point.saved));
  sheet.add("curve", curve);
}

std::string error_text(double error) { return error > 0 ? "±" + count_text(error) : "0"; }

std::string names_of(const CopiesView::Copy& copy) {
  return copy.commands.empty() ? "-" : fmt::format("{}", fmt::join(copy.commands, ", "));
}

std::vector<tui::TableCell> cells_of(const CopiesView::Copy& copy, std::size_t rank, bool with_db) {
  std::vector<tui::TableCell> cells{{std::to_string(rank), {}},
                                    {copy.name.empty() ? "\"\"" : copy.name, kBold},
                                    {names_of(copy), {}},
                                    {count_text(copy.hits_rate), {}},
                                    {error_text(copy.hits_error), {}},
                                    {count_text(copy.saved_rate), kBold},
                                    {percent_text(copy.server_cpu), kGood},
                                    {tui::size_text(copy.bytes), {}},
                                    {count_text(copy.fills_rate), {}},
                                    {count_text(copy.invalidations_rate), {}}};
  if (with_db) cells.push_back({std::to_string(copy.db), {}});
  return cells;
}

tui::Screen with_best_copies(Sheet& sheet, const CopiesView& copies) {
  if (copies.top.empty()) return sheet.screen();
  sheet.skip();
  using tui::Align;
  std::vector<tui::Column> columns{{"#"},
                                   {"KEY", Align::kLeft, 14},
                                   {"READS", Align::kLeft, 5},
                                   {"HITS/s"},
                                   {"ERR", Align::kRight, 0, 2},
                                   {"SAVES/s"},
                                   {"CPU"},
                                   {"SIZE"},
                                   {"FILL/s", Align::kRight, 0, 3},
                                   {"END/s", Align::kRight, 0, 1}};
  const bool with_db =
      std::ranges::any_of(copies.top, [](const CopiesView::Copy& copy) { return copy.db != 0; });
  if (with_db) columns.push_back({"DB", Align::kRight, 0, 4});
  tui::Table table(std::move(columns));
  std::size_t rank = 0;
  for (const CopiesView::Copy& copy : copies.top) table.add(cells_of(copy, ++rank, with_db));
  const int rows = static_cast<int>(copies.top.size()) + 1;
  tui::Screen screen = sheet.screen(rows);
  table.draw(screen, {0, sheet.lines(), {sheet.width(), rows}}, kTitles);
  return screen;
}

}  // namespace

tui::Screen draw_copies_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  if (!view.copies) {
    sheet.add("copies", view.is_past ? "the history does not keep the choice of copies"
                        : view.sources.empty()
                            ? "only hot keys get copies here, "
                              "or none (cache.admission: hot, or cache.enabled: false)"
                            : "an observed server has no proxy, so there are no copies");
    return sheet.screen();
  }
  const CopiesView& copies = *view.copies;
  sheet.add("choice", choice_text(copies), kBold);
  sheet.add("saves", fmt::format("{} of the reads, less what copies cost the server",
                                 percent_text(copies.saved)));
  sheet.add("now", now_text(view, copies));
  sheet.add(
      "costs",
      fmt::format("a fill costs the server as much as {:.1f} ±{:.1f} reads that a copy spares it; "
                  "an invalidation {:.1f}{}",
                  copies.fill_cost, copies.fill_cost_spread, copies.invalidation_cost,
                  cpu_text(copies.read_cpu)));
  if (copies.proxy_fill_cpu && copies.proxy_read_cpu)
    sheet.add("proxy",
              fmt::format("a fill takes it about {} of CPU, and a hit {} {}; "
                          "cache.server-weight says what its CPU is worth",
                          micros_text(*copies.proxy_fill_cpu),
                          *copies.proxy_read_cpu < Nanos(0) ? "takes it longer by" : "spares it",
                          micros_text(std::chrono::abs(*copies.proxy_read_cpu))));
  if (copies.prices) sheet.add("prices", prices_text(*copies.prices));
  add_refusals(sheet, copies);
  add_budget(sheet, copies);
  return with_best_copies(sheet, copies);
}

}  // namespace heatsink::app
