// SPDX-License-Identifier: Apache-2.0
// The pictures of top: pure functions from the model to a screen or a text.
#pragma once

#include <string>

#include "apps/heatsink/top/model.h"
#include "heatsink/base/clock.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// The page that is open. Everything fits in 80 x 24; wider screens show more columns. `now` is only
// for how long the node has been silent.
tui::Screen draw_top(const TopModel& model, tui::Size size, TimePoint now);

// The table without a screen's limits, a cursor and a footer, for a pipe: all rows that were
// chosen. REQUIRES Page::kKeys. At most tui::Screen::kSideMax lines.
std::string frame_text(const TopModel& model, TimePoint now);

// One paragraph for after the end: how long, which keys were hot, how much load was taken off.
// Lines of at most `columns`, and of 100.
std::string summary_text(const TopModel& model, Nanos watched, int columns = 100);

}  // namespace heatsink::app
