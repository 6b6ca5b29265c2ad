// SPDX-License-Identifier: Apache-2.0
// Applies a pressed key to top's model.
#pragma once

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// `key`: from tui::Terminal::read_key(); `size`: of the terminal, for scrolling by pages. False:
// the user wants to quit. Changes only choices and open_key.
bool pressed(TopModel& model, int key, tui::Size size);

}  // namespace heatsink::app
