// SPDX-License-Identifier: Apache-2.0
// What a key pressed does.
#pragma once

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/screen.h"

namespace heatsink::app {

// `key` as tui::Terminal::read_key() gives it; `size` of the terminal, for how far a page goes.
// False: the person wants to end. Changes nothing but choices and open_key.
bool pressed(TopModel& model, int key, tui::Size size);

}  // namespace heatsink::app
