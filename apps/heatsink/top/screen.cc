// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/heatsink/history/moment_text.h"
#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/paint.h"
#include "apps/heatsink/top/table.h"
#include "heatsink/base/printable.h"
#include "heatsink/detect/detect.h"
#include "heatsink/tui/tui.h"

namespace heatsink::app {
namespace {

using tui::Color;
using tui::count_text;
using tui::percent_text;
using tui::rate_text;
using tui::Screen;

void add_masters(Row& row, const HotkeysView& view) {
  if (!view.cluster) return;
  const auto up = std::ranges::count(view.nodes, true, &NodeView::upstream_up);
  const auto all = static_cast<std::ptrdiff_t>(view.nodes.size());
  if (up == all)
    row.add("masters", std::to_string(all));
  else
    row.add("masters", fmt::format("{}/{}", up, all), kBad);
}

// With the day, unless it is today.
std::string moment_text(WallTime at, WallTime now) {
  const std::string day = day_text(at), today = day_text(now);
  return day.substr(0, 10) == today.substr(0, 10) ? clock_text(at) : day;
}

void draw_past_title(Screen& screen, const TopModel& model) {
  const PastMoment& past = *model.past;
  Row row(screen, 0);
  row.add("Hot keys of " + model.view->node.upstream + " at", moment_text(past.at, model.clock),
          kBad);
  row.add("", tui::age_text(model.clock - past.at) + " ago", kBold);
  if (past.step > std::chrono::seconds(1)) row.add("mean of", format_duration(past.step));
}

void draw_title(Screen& screen, const TopModel& model) {
  if (model.past) return draw_past_title(screen, model);
  Row row(screen, 0);
  if (!model.view) {
    row.add("", "heatsink top");
    return;
  }
  const NodeView& node = model.view->node;
  // Not the command's name: a screenshot must not look like a command line that does not work.
  row.add("Hot keys of " + node.upstream, node.upstream_up ? "up" : "DOWN",
          node.upstream_up ? kGood : kBad);
  if (!model.view->sources.empty()) {
    const SourceView& source = model.view->sources.front();
    row.add("source", source.name + (source.state == "running" ? "" : ", " + source.state));
    if (!std::isnan(source.progress)) row.add("done", percent_text(source.progress));
    row.add("watched", tui::age_text(model.view->uptime));
    add_masters(row, *model.view);
    return;
  }
  if (node.coherence.starts_with("off ")) {  // by its configuration
    row.add("coherence", "off");
  } else {
    const bool coherent = node.coherence == "up";
    row.add("coherence", coherent ? "up" : "DOWN", coherent ? kGood : kBad);
  }
  if (node.stale_confirmed > 0)
    row.add("STALE READS", count_text(static_cast<double>(node.stale_confirmed)), kBad);
  row.add("clients", count_text(static_cast<double>(node.clients)));
  row.add("running", tui::age_text(model.view->uptime));
}

// Cut to one row; the page of sources has the whole text.
void put_beginning(Screen& screen, int row, const std::string& text, tui::Style style) {
  const std::string safe = tui::safe_text(text);
  const int width = std::min(tui::display_width(safe), screen.size().width);
  screen.put(0, row, tui::fit(safe, width), style);
}

// The note, or the meaning of the bounds; with several sources also their contradictions.
void draw_sources(Screen& screen, const HotkeysView& view) {
  const SourceView& source = view.sources.front();
  Row(screen, 1)
      .add("requests", rate_text(view.node.requests_rate))
      .add("reads", rate_text(view.node.reads_rate))
      .add("writes", rate_text(view.node.writes_rate));
  put_beginning(screen, 2, source.cost, kDim);
  if (view.cross_check.empty())
    put_beginning(screen, 4, source.confidence, kDim);
  else
    put_beginning(screen, 4, view.cross_check.front(), kBold);
  const bool bad = source.state == "failed" || source.state == "finished";
  put_beginning(screen, 5, source.note, bad ? kBad : kDim);
}

void draw_rates(Screen& screen, const NodeView& node) {
  Row(screen, 1)
      .add("requests", rate_text(node.requests_rate))
      .add("reads", rate_text(node.reads_rate))
      .add("writes", rate_text(node.writes_rate))
      .add("hit ratio", percent_text(node.hit_ratio))
      .add("misses", rate_text(node.misses_rate));
  Row row(screen, 2);
  row.add("LOAD TAKEN OFF the server:", tui::signed_percent_text(node.offload),
          node.offload < 0 ? kBad : kGood)
      .add("", tui::signed_rate_text(node.commands_rate - node.server_commands_rate),
           node.offload < 0 ? kBad : kGood);
  if (!std::isnan(node.cpu_offload))
    row.add("CPU", tui::signed_percent_text(node.cpu_offload), node.cpu_offload < 0 ? kBad : kGood);
  else if (!node.cpu_unknown.empty())
    row.add("CPU", "unknown");
  row.add("local copies",
          fmt::format("{} ({})", node.cached_entries, tui::size_text(node.cached_bytes)));
}

// What the history has of the node.
void draw_past_rates(Screen& screen, const TopModel& model) {
  const NodeView& node = model.view->node;
  Row row(screen, 1);
  row.add("requests", rate_text(node.requests_rate))
      .add("reads", rate_text(node.reads_rate))
      .add("writes", rate_text(node.writes_rate));
  if (model.observed) return;
  row.add("hit ratio", percent_text(node.hit_ratio)).add("misses", rate_text(node.misses_rate));
  if (std::isnan(node.offload)) return;
  Row(screen, 2)
      .add("LOAD TAKEN OFF the server:", tui::signed_percent_text(node.offload),
           node.offload < 0 ? kBad : kGood)
      .add("", tui::signed_rate_text(node.commands_rate - node.server_commands_rate),
           node.offload < 0 ? kBad : kGood);
}

// Draws both curves on the requests' scale, so that their distance shows the remaining load.
void draw_curves(Screen& screen, const TopModel& model) {
  constexpr int kLabel = 9, kValue = 12, kCurveColumnsMax = 200;
  const int width = std::clamp(screen.size().width - kLabel - kValue, 0, kCurveColumnsMax);
  const std::vector<double>& requests = model.past ? model.past->requests : model.requests;
  const std::vector<double>& hits = model.past ? model.past->hits : model.hits;
  const auto visible = std::min(requests.size(), static_cast<std::size_t>(width));
  const auto first = requests.end() - static_cast<std::ptrdiff_t>(visible);
  const double top = visible == 0 ? 0 : *std::max_element(first, requests.end());
  screen.put(0, 3, "requests");
  screen.put(kLabel, 3, tui::sparkline(requests, top, width), {.color = Color::kBlue});
  screen.put(kLabel + width, 3, " max " + rate_text(top), kDim);
  if (model.observed) return;
  screen.put(0, 4, "hits");
  screen.put(kLabel, 4, tui::sparkline(hits, top, width), {.color = Color::kGreen});
  screen.put(kLabel + width, 4, " same scale", kDim);
}

std::size_t count_of(const HotkeysView& view, std::string_view verdict) {
  return static_cast<std::size_t>(std::ranges::count(view.keys, verdict, &KeyView::verdict));
}

// The commands and clients of the selected key: the right relief depends on them.
void draw_detail(Screen& screen, const TopRow& row, std::size_t rank, int at) {
  const KeyView& key = *row.key;
  if (key.commands.empty() && key.clients.empty()) return;
  const double all = accesses_in_window(key);
  const std::string rule = key.rule.empty() ? "" : " (rule " + key.rule + ")";
  screen.put(0, at,
             fmt::format("{}{}: {}   from {}", rank, rule, tallies_text(key.commands, all),
                         tallies_text(key.clients, all)),
             kDim);
}

// The user's choices, unless all keys are shown by rate.
void add_choices(Row& row, const TopModel& model, const TopRows& rows) {
  const RowChoices& choices = model.choices.rows;
  row.add("by",
          fmt::format("{} {}", to_string(choices.order.by), choices.order.reversed ? "▲" : "▼"));
  if (choices.group)
    row.add("of", one_line(choices.group->raw_name, kPrintableBytesMax), kGood);
  else if (choices.templates)
    row.add("", fmt::format("{} templates", rows.rows.size()), kGood);
  if (!choices.filter.text.empty())
    row.add("filter",
            fmt::format("{} ({} of {})", choices.filter.text, rows.keys, model.view->keys.size()),
            kGood);
}

// A short form of the threshold for "hot"; the page of a key has all of it.
void add_threshold(Row& row, const HotkeysView& view) {
  if (!view.sources.empty())
    row.add("hot from",
            view.sources.front().name == "lfu"
                ? "counter 255"
                : fmt::format("{:g} %", 100 * detect::kAutomaticHotPart),
            kDim);
  else if (!std::isnan(view.node.hot) && view.node.dimension == "requests")
    row.add("hot from", fmt::format("{:.{}f}/s", view.node.hot, view.node.hot < 10 ? 1 : 0), kDim);
}

void draw_section(Screen& screen, const TopModel& model, const TopRows& rows) {
  const HotkeysView& view = *model.view;
  const std::size_t hot = count_of(view, "hot"), write_hot = count_of(view, "write-hot");
  if (model.past && !view.keys.empty()) {
    Row row(screen, 6);
    row.add(view.headline, "");
    return add_choices(row, model, rows);
  }
  if (hot + write_hot == 0) {
    screen.put(0, 6, view.headline, kGood);
    return;
  }
  Row row(screen, 6);
  row.add(fmt::format("hot {}, write-hot {}, warm {}", hot, write_hot, count_of(view, "warm")), "");
  add_choices(row, model, rows);
  add_threshold(row, view);
  row.add("", fmt::format("per second over {}", tui::age_text(view.window)), kDim);
}

void draw_problem(Screen& screen, const TopModel& model, int row, TimePoint now) {
  if (model.problem.empty()) return;
  const Nanos silent = model.down_since ? now - *model.down_since : Nanos(0);
  const bool lasting = silent >= std::chrono::seconds(1);
  screen.put(0, row,
             fmt::format("NO ANSWER from {}{}: {}", model.asked(),
                         lasting ? " for " + tui::age_text(silent) : "", model.problem),
             kBad);
}

void draw_coherence(Screen& screen, const TopModel& model, int row) {
  const std::string& coherence = model.view->node.coherence;
  if (coherence != "up" && !coherence.empty())
    screen.put(0, row, "not serving local copies: " + coherence, kBad);
}

void draw_prompt(Screen& screen, const TopChoices& choices, int row) {
  if (!choices.prompt_problem.empty()) screen.put(0, row - 1, choices.prompt_problem, kBad);
  const std::string typed = "/" + *choices.prompt + "_";
  // Keeps the end of the typed text visible.
  const int hidden = std::max(0, tui::display_width(typed) - screen.size().width + 1);
  const int end = screen.put(-hidden, row, typed, kBold);
  screen.put(end, row, "   Enter applies, Esc cancels   user:* db=0 command=GET client=10.0.",
             kDim);
}

void draw_footer(Screen& screen, const TopModel& model) {
  const TopChoices& choices = model.choices;
  const int row = screen.size().height - 1;
  if (choices.prompt) return draw_prompt(screen, choices, row);
  if (model.past) {
    const std::string_view more =
        choices.page == Page::kKeys ? "Enter open  s sort" : "arrows scroll";
    screen.put(0, row,
               fmt::format(" q quit  h help  [ ] 10s back, on  {{ }} 10min  Esc {}  {}",
                           choices.page == Page::kKeys ? "now" : "back", more));
    return screen.paint_row(row, {.reverse = true});
  }
  const std::string paused = choices.paused ? "PAUSED, p resume" : "p pause";
  const std::string_view rest = choices.page == Page::kKeys
                                    ? "Enter open  / filter  s sort  t templates  n nodes"
                                    : "Esc back  arrows, PgUp, PgDn scroll  n nodes";
  const int end = screen.put(0, row, fmt::format(" q quit  h help  {}  {}", paused, rest));
  constexpr std::string_view kSlots = "  l slots";
  if (end + tui::display_width(kSlots) <= screen.size().width) screen.put(end, row, kSlots);
  screen.paint_row(row, {.reverse = true});
}

void draw_waiting(Screen& screen, const TopModel& model) {
  if (model.problem.empty()) {
    screen.put(0, 2, fmt::format("asking {} ...", model.asked()));
    return;
  }
  if (!model.observed)
    screen.put(0, 4, "Is 'heatsink proxy' running, with --admin " + model.admin + "?");
  screen.put(0, 5, fmt::format("Trying again every {}.", format_duration(model.interval)));
}

void draw_nothing_passes(Screen& screen, const TopModel& model) {
  if (model.view->keys.empty()) return;
  screen.put(0, kHeaderRows,
             fmt::format("none of the {} listed keys matches the filter (Esc clears it)",
                         model.view->keys.size()));
}

bool has_rest(const TopModel& model) {
  const RowChoices& choices = model.choices.rows;
  return choices.templates && !choices.group && model.view && model.view->templates;
}

// The last line of the templates: the accesses that none of them has.
void draw_rest(Screen& screen, const TopModel& model, int row) {
  const TemplatesView& templates = *model.view->templates;
  const double all = model.view->node.requests_rate;
  const std::string share =
      all > 0 ? fmt::format(" ({} of all)", tui::percent_text(templates.rest_high / all)) : "";
  screen.put(0, row,
             fmt::format("in no listed template: {} to {}{}", rate_text(templates.rest_low),
                         rate_text(templates.rest_high), share),
             kDim);
}

void draw_table(Screen& screen, const TopModel& model, int last_row, bool with_cursor) {
  const TopRows rows = model.rows();
  if (model.past)
    draw_past_rates(screen, model);
  else if (model.view->sources.empty())
    draw_rates(screen, model.view->node);
  draw_curves(screen, model);
  if (!model.view->sources.empty()) draw_sources(screen, *model.view);
  draw_section(screen, model, rows);
  if (has_rest(model)) draw_rest(screen, model, --last_row);
  if (rows.rows.empty()) return draw_nothing_passes(screen, model);
  const tui::Area area{0, kHeaderRows, {screen.size().width, last_row - kHeaderRows}};
  draw_keys(screen, area, model, rows, with_cursor);
  const std::size_t cursor = model.cursor_in(rows);
  const int used = static_cast<int>(rows.rows.size()) + 2;  // titles, an empty row
  if (used < area.size.height) draw_detail(screen, rows.rows[cursor], cursor + 1, last_row - 1);
}

// Draws the visible part of the page.
void draw_page(Screen& screen, const TopModel& model) {
  const Screen page = page_picture(model, screen.size().width);
  const int room = static_cast<int>(page_room(screen.size()));
  const int first =
      std::clamp(static_cast<int>(std::min<std::size_t>(model.choices.scroll, Screen::kSideMax)), 0,
                 std::max(page.size().height - room, 0));
  for (int row = 0; row < std::min(room, page.size().height - first); ++row) {
    for (int column = 0; column < page.size().width; ++column) {
      const tui::Cell& cell = page.at(column, first + row);
      screen.put(column, kPageTop + row, cell.glyph, cell.style);
    }
  }
}

Screen picture(const TopModel& model, tui::Size size, TimePoint now, bool interactive) {
  Screen screen(size);
  const int last_row = screen.size().height - 1;
  const bool table = model.choices.page == Page::kKeys;
  draw_title(screen, model);
  if (!table && (model.view || model.choices.page == Page::kHelp)) {
    draw_page(screen, model);
    draw_problem(screen, model, 1, now);
  } else if (model.view) {
    draw_table(screen, model, last_row, interactive);
    if (model.problem.empty() && !model.observed && !model.past) draw_coherence(screen, model, 5);
    if (!model.past_problem.empty())
      screen.put(0, 5, "that moment cannot be shown: " + model.past_problem, kBad);
    draw_problem(screen, model, 5, now);
  } else {
    draw_waiting(screen, model);
    draw_problem(screen, model, 2, now);
  }
  for (int column = 0; column < screen.size().width; ++column) screen.put(column, last_row, " ");
  if (interactive) draw_footer(screen, model);
  return screen;
}

}  // namespace

tui::Screen draw_top(const TopModel& model, tui::Size size, TimePoint now) {
  return picture(model, size, now, true);
}

std::string frame_text(const TopModel& model, TimePoint now, std::optional<int> columns) {
  const int height =
      kHeaderRows + 2 + static_cast<int>(model.rows().rows.size()) + (has_rest(model) ? 1 : 0);
  // Whole sentences, within a limit of memory.
  constexpr int kCellsMax = 4'000'000, kLeast = 120;
  const int width =
      columns.value_or(std::clamp(kCellsMax / std::max(height, 1), kLeast, tui::kColumnsMax));
  std::string text = picture(model, {width, height}, now, false).text();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace heatsink::app
