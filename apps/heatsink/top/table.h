// SPDX-License-Identifier: Apache-2.0
// Draws the hot keys as a table.
#pragma once

#include <cstddef>

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/table.h"

namespace heatsink::app {

// Draws the part of the rows with the cursor, with column titles; highlights the cursor's row if
// `with_cursor`. Draws nothing without rows.
void draw_keys(tui::Screen& screen, const tui::Area& area, const TopModel& model,
               const TopRows& rows, bool with_cursor);

}  // namespace heatsink::app
