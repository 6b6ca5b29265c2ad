// SPDX-License-Identifier: Apache-2.0
// The hot keys as a table.
#pragma once

#include <cstddef>

#include "apps/heatsink/top/model.h"
#include "heatsink/tui/table.h"

namespace heatsink::app {

// The page of the rows that the cursor is on, with their titles; the cursor's row is painted if
// `with_cursor`. Nothing when there are no rows.
void draw_keys(tui::Screen& screen, const tui::Area& area, const TopModel& model,
               const TopRows& rows, bool with_cursor);

}  // namespace heatsink::app
