// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/input.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "apps/heatsink/top/pages.h"
#include "heatsink/tui/terminal.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

constexpr int kControlU = 21;
constexpr auto kStepInTime = std::chrono::seconds(10);
constexpr auto kLeapInTime = std::chrono::minutes(10);

void append_utf8(std::string& out, int code_point) {
  const auto c = static_cast<unsigned>(code_point);
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6U));
  } else {
    if (c < 0x10000) {
      put(0xE0 | (c >> 12U));
    } else {
      put(0xF0 | (c >> 18U));
      put(0x80 | ((c >> 12U) & 0x3FU));
    }
    put(0x80 | ((c >> 6U) & 0x3FU));
  }
  put(0x80 | (c & 0x3FU));
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80)
    text.pop_back();
  if (!text.empty()) text.pop_back();
}

void to_first_row(TopChoices& choices) {
  choices.selected.reset();
  choices.cursor = 0;
}

void close_prompt(TopChoices& choices) {
  choices.prompt.reset();
  choices.prompt_problem.clear();
}

void end_prompt(TopChoices& choices) {
  Result<KeyFilter> filter = parse_filter(*choices.prompt);
  if (!filter) {
    choices.prompt_problem = filter.error().message;
    return;
  }
  choices.rows.filter = std::move(filter).value();
  close_prompt(choices);
  to_first_row(choices);
}

void typed(TopChoices& choices, int key) {
  std::string& text = *choices.prompt;
  switch (key) {
    case tui::kEnter:
      return end_prompt(choices);
    case tui::kEscape:
      return close_prompt(choices);
    case tui::kBackspace:
      return remove_last_character(text);
    case kControlU:
      return text.clear();
    default:
      break;
  }
  const bool shows =
      key >= 0x20 && key < tui::kLeft && tui::column_width(static_cast<char32_t>(key)) >= 0;
  if (shows && text.size() + 4 <= kFilterBytesMax) append_utf8(text, key);
}

void go_to(TopChoices& choices, Page page) {
  choices.page = page;
  choices.scroll = 0;
}

// The new position after a key press in `count` rows of which `room` are visible; nothing if the
// key does not move.
std::optional<std::size_t> moved(int key, std::size_t at, std::size_t count, std::size_t room) {
  const std::size_t last = count == 0 ? 0 : count - 1;
  switch (key) {
    case tui::kUp:
    case 'k':
      return at - std::min<std::size_t>(at, 1);
    case tui::kDown:
    case 'j':
      return std::min(at + 1, last);
    case tui::kPageUp:
      return at - std::min(at, room);
    case tui::kPageDown:
      return std::min(at + room, last);
    case tui::kHome:
    case 'g':
      return 0;
    case tui::kEnd:
    case 'G':
      return last;
    default:
      return std::nullopt;
  }
}

void move_cursor(TopModel& model, int key, tui::Size size) {
  const TopRows rows = model.rows();
  const auto to = moved(key, model.cursor_in(rows), rows.rows.size(), keys_room(size));
  if (!to) return;
  model.choices.cursor = *to;
  model.choices.selected.reset();
  // At the first row nothing is selected: the cursor stays on top, whatever key is the busiest.
  if (*to > 0) model.choices.selected = id_of(*rows.rows[*to].key);
}

void scroll(TopModel& model, int key, tui::Size size) {
  const std::size_t room = page_room(size);
  const std::size_t rows = page_rows(model, size);
  const std::size_t positions = rows > room ? rows - room + 1 : 1;
  const auto to = moved(key, std::min(model.choices.scroll, positions - 1), positions, room);
  if (to) model.choices.scroll = *to;
}

// Opens the keys of a template, or the page of a key.
void open_row(TopModel& model) {
  TopChoices& choices = model.choices;
  const TopRows rows = model.rows();
  if (rows.rows.empty()) return;
  const TopRow& row = rows.rows[model.cursor_in(rows)];
  if (row.is_template) {
    if (row.keys == 0) return;
    choices.rows.group = id_of(*row.key);
    return to_first_row(choices);
  }
  choices.selected = id_of(*row.key);
  model.open_key = OpenKey{*row.key};
  go_to(choices, Page::kKey);
}

// Leaves the innermost of: a page, a template, the past, a filter.
void back(TopModel& model) {
  TopChoices& choices = model.choices;
  if (choices.page == Page::kHelp) return go_to(choices, choices.before_help);
  if (choices.page != Page::kKeys) {
    model.open_key.reset();
    return go_to(choices, Page::kKeys);
  }
  if (choices.rows.group) {
    choices.selected = std::exchange(choices.rows.group, std::nullopt);
    return;
  }
  if (choices.at) return choices.at.reset();
  choices.rows.filter = {};
  to_first_row(choices);
}

// Shows so much later, or earlier; beyond the present it is live.
void travel(TopModel& model, WallTime::duration by) {
  std::optional<WallTime>& at = model.choices.at;
  at = std::max(at.value_or(model.clock) + by, WallTime());
  if (*at >= model.clock) at.reset();
  model.past_problem.clear();
}

void toggle(TopModel& model, Page page) {
  if (model.choices.page == page) return back(model);
  model.open_key.reset();
  go_to(model.choices, page);
}

// A user who asks for help returns to the same page.
void toggle_help(TopModel& model) {
  TopChoices& choices = model.choices;
  if (choices.page == Page::kHelp) return back(model);
  choices.before_help = choices.page;
  go_to(choices, Page::kHelp);
}

void toggle_templates(TopChoices& choices) {
  choices.rows.templates = !choices.rows.templates;
  choices.rows.group.reset();
  to_first_row(choices);
}

// Handles the keys that work on all pages. False: the key has no meaning there.
bool pressed_anywhere(TopModel& model, int key) {
  TopChoices& choices = model.choices;
  switch (key) {
    case 'p':
    case ' ':
      choices.paused = !choices.paused;
      return true;
    case '[':
      travel(model, -kStepInTime);
      return true;
    case ']':
      travel(model, kStepInTime);
      return true;
    case '{':
      travel(model, -kLeapInTime);
      return true;
    case '}':
      travel(model, kLeapInTime);
      return true;
    case 'h':
    case '?':
      toggle_help(model);
      return true;
    case 'n':
      toggle(model, Page::kNodes);
      return true;
    case 'l':
      toggle(model, Page::kSlots);
      return true;
    case 'c':
      toggle(model, Page::kCopies);
      return true;
    case 'i':
      toggle(model, Page::kSources);
      return true;
    case tui::kEscape:
    case tui::kBackspace:
      back(model);
      return true;
    default:
      return false;
  }
}

void pressed_in_table(TopModel& model, int key, tui::Size size) {
  TopChoices& choices = model.choices;
  Order& order = choices.rows.order;
  switch (key) {
    case 's':
    case tui::kRight:
      order.by = after(order.by);
      return;
    case 'S':
    case tui::kLeft:
      order.by = before(order.by);
      return;
    case 'r':
      order.reversed = !order.reversed;
      return;
    case 't':
      return toggle_templates(choices);
    case '/':
      choices.prompt = choices.rows.filter.text;
      return;
    case tui::kEnter:
      return open_row(model);
    default:
      return move_cursor(model, key, size);
  }
}

}  // namespace

bool pressed(TopModel& model, int key, tui::Size size) {
  if (model.choices.prompt) {
    typed(model.choices, key);
    return true;
  }
  if (key == 'q' || key == 'Q') return false;
  if (pressed_anywhere(model, key)) return true;
  if (model.choices.page == Page::kKeys)
    pressed_in_table(model, key, size);
  else
    scroll(model, key, size);
  return true;
}

}  // namespace heatsink::app
