// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/heatsink/top_table.h"
#include "heatsink/tui/tui.h"

namespace heatsink::app {
namespace {

using tui::Color;
using tui::count_text;
using tui::percent_text;
using tui::rate_text;
using tui::Screen;
using tui::Style;

constexpr Style kBold{.bold = true};
constexpr Style kDim{.dim = true};
constexpr Style kGood{.color = Color::kGreen, .bold = true};
constexpr Style kBad{.color = Color::kRed, .bold = true};
constexpr int kHeaderRows = 7;  // the table's titles are in the row after them

// Words and their values in a row, three spaces apart. What does not fit whole is left out: the
// tail of a number would read as another number.
class Row {
 public:
  Row(Screen& screen, int row) : screen_(screen), row_(row) {}

  Row& add(std::string_view label, std::string_view value, Style style = kBold) {
    const int gap = column_ == 0 ? 0 : 3;
    const int between = label.empty() || value.empty() ? 0 : 1;
    const int width = gap + tui::display_width(label) + between + tui::display_width(value);
    if (column_ > 0 && column_ + width > screen_.size().width) return *this;
    const int after_label = screen_.put(column_ + gap, row_, label);
    column_ = screen_.put(after_label + between, row_, value, style);
    return *this;
  }

 private:
  Screen& screen_;
  int row_;
  int column_ = 0;
};

void draw_title(Screen& screen, const TopModel& model) {
  Row row(screen, 0);
  row.add("", "heatsink top");
  if (!model.view) return;
  const NodeView& node = model.view->node;
  row.add(node.upstream, node.upstream_up ? "up" : "DOWN", node.upstream_up ? kGood : kBad);
  if (!model.view->sources.empty()) {
    const SourceView& source = model.view->sources.front();
    row.add("source", source.name + (source.state == "running" ? "" : ", " + source.state));
    row.add("watched", tui::age_text(model.view->uptime));
    return;
  }
  const bool coherent = node.coherence == "up";
  row.add("coherence", coherent ? "up" : "DOWN", coherent ? kGood : kBad);
  if (node.stale_confirmed > 0)
    row.add("STALE READS", count_text(static_cast<double>(node.stale_confirmed)), kBad);
  row.add("clients", count_text(static_cast<double>(node.clients)));
  row.add("running", tui::age_text(model.view->uptime));
}

// What there is to say, or how the bounds are meant; of several sources also what they disagree on.
void draw_sources(Screen& screen, const HotkeysView& view) {
  const SourceView& source = view.sources.front();
  Row(screen, 1)
      .add("requests", rate_text(view.node.requests_rate))
      .add("reads", rate_text(view.node.reads_rate))
      .add("writes", rate_text(view.node.writes_rate));
  screen.put(0, 2, source.cost, kDim);
  screen.put(0, 4, source.confidence, kDim);
  if (!view.cross_check.empty()) screen.put(0, 4, view.cross_check.front(), kBold);
  if (!source.note.empty()) screen.put(0, 5, source.note, kBad);
}

void draw_rates(Screen& screen, const NodeView& node) {
  Row(screen, 1)
      .add("requests", rate_text(node.requests_rate))
      .add("reads", rate_text(node.reads_rate))
      .add("writes", rate_text(node.writes_rate))
      .add("hit ratio", percent_text(node.hit_ratio))
      .add("misses", rate_text(node.misses_rate));
  Row(screen, 2)
      .add("LOAD TAKEN OFF the server:", percent_text(node.offload), kGood)
      .add("", rate_text(node.hits_rate), kGood)
      .add("local copies",
           fmt::format("{} ({})", node.cached_entries, tui::size_text(node.cached_bytes)));
}

// Both curves on the scale of the requests, so that their distance is the load that is left.
void draw_curves(Screen& screen, const TopModel& model) {
  constexpr int kLabel = 9, kValue = 12;
  const int width = std::max(0, screen.size().width - kLabel - kValue);
  const auto visible = std::min(model.requests.size(), static_cast<std::size_t>(width));
  const auto first = model.requests.end() - static_cast<std::ptrdiff_t>(visible);
  const double top = visible == 0 ? 0 : *std::max_element(first, model.requests.end());
  screen.put(0, 3, "requests");
  screen.put(kLabel, 3, tui::sparkline(model.requests, top, width), {.color = Color::kBlue});
  screen.put(kLabel + width, 3, " max " + rate_text(top), kDim);
  if (model.observed) return;
  screen.put(0, 4, "hits");
  screen.put(kLabel, 4, tui::sparkline(model.hits, top, width), {.color = Color::kGreen});
  screen.put(kLabel + width, 4, " same scale", kDim);
}

std::size_t count_of(const HotkeysView& view, std::string_view verdict) {
  return static_cast<std::size_t>(std::ranges::count(view.keys, verdict, &KeyView::verdict));
}

// "GET 99.0 %, SET 1.0 %"; counts are lower bounds, so the parts may be, too.
std::string tallies_text(const std::vector<TallyView>& tallies, double all) {
  std::string out;
  for (const TallyView& tally : tallies) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", tally.name,
                       percent_text(all > 0 ? std::min(tally.count / all, 1.0) : 0));
  }
  return out;
}

// Who does what with the key in the first row: what to do about it depends on that.
void draw_detail(Screen& screen, const TopModel& model, int row) {
  const KeyView& key = *model.sorted_keys().front();
  const double seconds = std::chrono::duration<double>(key.window).count();
  const double all = (key.reads_rate + key.writes_rate) * seconds;
  if (key.commands.empty() && key.clients.empty()) return;
  const std::string rule = key.rule.empty() ? "" : " (rule " + key.rule + ")";
  screen.put(0, row,
             fmt::format("1{}: {}   from {}", rule, tallies_text(key.commands, all),
                         tallies_text(key.clients, all)),
             kDim);
}

void draw_section(Screen& screen, const TopModel& model) {
  const HotkeysView& view = *model.view;
  const std::size_t hot = count_of(view, "hot"), write_hot = count_of(view, "write-hot");
  if (hot + write_hot == 0) {
    screen.put(0, 6, view.headline, kGood);
    return;
  }
  Row row(screen, 6);
  row.add(fmt::format("hot {}, write-hot {}, warm {}", hot, write_hot, count_of(view, "warm")), "");
  row.add("", fmt::format("per second over {}", tui::age_text(view.window)), kDim);
  row.add("sorted by", to_string(model.sort));
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
  if (coherence != "up") screen.put(0, row, "no local copies are served: " + coherence, kBad);
}

void draw_footer(Screen& screen, const TopModel& model) {
  const int row = screen.size().height - 1;
  const std::string paused = model.paused ? "PAUSED, p goes on" : "p pause";
  screen.put(0, row,
             fmt::format(" q quit   {}   s sort: {}   h help   every {}", paused,
                         to_string(model.sort), format_duration(model.interval)));
  screen.paint_row(row, {.reverse = true});
}

void draw_help(Screen& screen) {
  constexpr std::string_view kHelp[] = {
      "RATE/s    what its rule counts, per second over the window: accesses, or bytes (B);",
      "          the truth is within ERR of it",
      "SHARE     of all accesses the node sees",
      "RD/s WR/s reads and writes of the key, per second",
      "HITS      reads answered by the local copy: load that the server does not have",
      "STATE     cached: hot, with a local copy; hot: without one, and why;",
      "          write-hot: so many writes that a copy would cost more than it saves;",
      "          warm: worth watching",
      "SINCE     how long the key has been in that state",
      "",
      "q, Ctrl-C quit   p, space pause   s, right next order   left previous order",
      "h, ? back to the keys",
  };
  int row = kHeaderRows;
  for (const std::string_view line : kHelp) screen.put(0, row++, line);
}

void draw_waiting(Screen& screen, const TopModel& model) {
  if (model.problem.empty()) {
    screen.put(0, 2, fmt::format("asking {} ...", model.asked()));
    return;
  }
  if (!model.observed)
    screen.put(0, 4, "Is `heatsink proxy` running, with --admin " + model.admin + "?");
  screen.put(0, 5, fmt::format("Trying again every {}.", format_duration(model.interval)));
}

void draw_body(Screen& screen, const TopModel& model, int last_row) {
  if (model.view->sources.empty()) draw_rates(screen, model.view->node);
  draw_curves(screen, model);
  if (!model.view->sources.empty()) draw_sources(screen, *model.view);
  if (model.help) return draw_help(screen);
  draw_section(screen, model);
  const tui::Area area{0, kHeaderRows, {screen.size().width, last_row - kHeaderRows}};
  const std::vector<const KeyView*> keys = model.sorted_keys();
  draw_keys(screen, area, keys);
  const bool room = static_cast<int>(keys.size()) + 2 < area.size.height;  // titles, an empty row
  if (room && !keys.empty()) draw_detail(screen, model, last_row - 1);
}

}  // namespace

tui::Screen draw_top(const TopModel& model, tui::Size size, TimePoint now) {
  Screen screen(size);
  const int last_row = screen.size().height - 1;
  draw_title(screen, model);
  if (model.view) {
    draw_body(screen, model, last_row);
    if (model.problem.empty() && !model.observed) draw_coherence(screen, model, 5);
    draw_problem(screen, model, 5, now);
  } else {
    draw_waiting(screen, model);
    draw_problem(screen, model, 2, now);
  }
  for (int column = 0; column < screen.size().width; ++column) screen.put(column, last_row, " ");
  draw_footer(screen, model);
  return screen;
}

std::string frame_text(const TopModel& model, std::size_t keys_max, TimePoint now) {
  constexpr int kWidth = 120;
  const std::size_t keys = model.view ? std::min(model.view->keys.size(), keys_max) : 0;
  const int height = kHeaderRows + 2 + static_cast<int>(keys);
  std::string text = draw_top(model, {kWidth, height}, now).text();
  text.pop_back();
  text.erase(text.rfind('\n') + 1);  // the footer speaks of keys to press
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace heatsink::app
