// SPDX-License-Identifier: Apache-2.0
// Draws the pictures of top: pure functions from the model to a screen or a text.
#pragma once

#include <optional>
#include <string>

#include "apps/heatsink/top/model.h"
#include "heatsink/base/clock.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// The open page. Everything fits in 80 x 24; wider screens show more columns. `now` only measures
// how long the node has been silent.
tui::Screen draw_top(const TopModel& model, tui::Size size, TimePoint now);

// The table for a pipe, without cursor, footer and screen size: all chosen rows. REQUIRES
// Page::kKeys. At most tui::Screen::kSideMax lines.
std::string frame_text(const TopModel& model, TimePoint now,
                       std::optional<int> columns = std::nullopt);

// One paragraph for the end: the duration, the hot keys, and the load taken off. Lines of at most
// `columns`, and of 100.
std::string summary_text(const TopModel& model, Nanos watched, int columns = 100);

}  // namespace heatsink::app
