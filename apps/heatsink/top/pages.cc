// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/pages.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "apps/heatsink/top/paint.h"

namespace heatsink::app {
namespace {

constexpr std::array<std::string_view, 23> kHelp{
    "RATE/s    what the rule of the key counts, per second: accesses, or bytes (B);",
    "          over the window; the true rate is within ERR of it",
    "TREND     rates of the last answers, relative to the highest one remembered",
    "SHARE     share of all accesses that this node sees",
    "RD/s WR/s reads and writes of the key, per second",
    "HITS      reads answered from the local copy: load that the server is spared",
    "STATE     cached: hot, with a local copy; hot: without a copy, with the reason;",
    "          write-hot: written so much that a copy would cost more than it saves;",
    "          warm: close to hot; not proven: perhaps hot, too few samples so far",
    "",
    "arrows, PgUp, PgDn, Home, End   move; Home: keep the busiest key selected",
    "Enter   page of the key: history, clients, what to do; of a template: its keys",
    "Esc     back: from a page, then from a template, the past, the filter",
    "[ ]     10 s back in time, and on: what was hot then      { }   10 min",
    "s, right   next order      S, left   previous order      r   reversed order",
    "/       filter: a name or pattern (user:*), db=0, command=GET, client=10.0.,",
    "        verdict=hot, node=10.0.; bytes as they are shown (\\x00)",
    "t       templates: names that differ only in numbers and ids are one row",
    "n nodes   l slots   c copies   i where the numbers come from   h, ? this page",
    "p, space   pause: the numbers stand still, a recording continues",
    "q, Ctrl-C  quit",
    "",
    "NO_COLOR=1 or --no-color: no colours",
};

std::size_t at_least_one(int rows) { return static_cast<std::size_t>(std::max(rows, 1)); }

}  // namespace

std::size_t keys_room(tui::Size size) { return at_least_one(size.height - kHeaderRows - 2); }

std::size_t page_room(tui::Size size) { return at_least_one(size.height - kPageTop - 1); }

tui::Screen page_picture(const TopModel& model, int width) {
  switch (model.choices.page) {
    case Page::kKeys:
      break;
    case Page::kKey:
      return draw_key_page(model, width);
    case Page::kNodes:
      return draw_nodes_page(model.view.value_or(HotkeysView{}), width);
    case Page::kSlots:
      return draw_slots_page(model.view.value_or(HotkeysView{}), width);
    case Page::kCopies:
      return draw_copies_page(model.view.value_or(HotkeysView{}), width);
    case Page::kSources:
      return draw_sources_page(model.view.value_or(HotkeysView{}), width);
    case Page::kHelp:
      return draw_help_page(width);
  }
  return tui::Screen({width, 1});
}

std::size_t page_rows(const TopModel& model, tui::Size size) {
  return static_cast<std::size_t>(page_picture(model, size.width).size().height);
}

tui::Screen draw_help_page(int width) {
  tui::Screen screen({width, static_cast<int>(kHelp.size())});
  int row = 0;
  for (const std::string_view line : kHelp) screen.put(0, row++, line);
  return screen;
}

}  // namespace heatsink::app
