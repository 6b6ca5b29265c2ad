// SPDX-License-Identifier: Apache-2.0
// The pages of top other than the table of keys, and how much of each is seen at once.
#pragma once

#include <cstddef>

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// Of the table: the title, six rows about the node, its own titles, the footer.
inline constexpr int kHeaderRows = 7;
std::size_t keys_room(tui::Size size);  // at least 1
// Of the other pages: the title, an empty row, the footer.
inline constexpr int kPageTop = 2;
std::size_t page_room(tui::Size size);  // at least 1

// All of the page that is open, as wide as asked and as long as it needs to be, at most
// tui::Screen::kSideMax rows. REQUIRES another page than Page::kKeys. Pure.
tui::Screen page_picture(const TopModel& model, int width);
std::size_t page_rows(const TopModel& model, tui::Size size);

tui::Screen draw_key_page(const TopModel& model, int width);
tui::Screen draw_nodes_page(const HotkeysView& view, int width);
tui::Screen draw_slots_page(const HotkeysView& view, int width);
tui::Screen draw_sources_page(const HotkeysView& view, int width);
tui::Screen draw_help_page(int width);

}  // namespace heatsink::app
