// SPDX-License-Identifier: Apache-2.0
// Draws the pages of top except the table of keys, and calculates how much of each is visible.
#pragma once

#include <cstddef>

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// Rows around the table: the title, six rows about the node, the column titles, the footer.
inline constexpr int kHeaderRows = 7;
std::size_t keys_room(tui::Size size);  // at least 1
// Rows around other pages: the title, an empty row, the footer.
inline constexpr int kPageTop = 2;
std::size_t page_room(tui::Size size);  // at least 1

// The whole open page, `width` columns wide and as long as necessary, at most tui::Screen::kSideMax
// rows. REQUIRES a page other than Page::kKeys. Pure.
tui::Screen page_picture(const TopModel& model, int width);
std::size_t page_rows(const TopModel& model, tui::Size size);

tui::Screen draw_key_page(const TopModel& model, int width);
tui::Screen draw_nodes_page(const HotkeysView& view, int width);
tui::Screen draw_slots_page(const HotkeysView& view, int width);
tui::Screen draw_copies_page(const HotkeysView& view, int width);
tui::Screen draw_sources_page(const HotkeysView& view, int width);
tui::Screen draw_help_page(int width);

}  // namespace heatsink::app
