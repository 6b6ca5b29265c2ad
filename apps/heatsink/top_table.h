// SPDX-License-Identifier: Apache-2.0
// The hot keys as a table.
#pragma once

#include <vector>

#include "apps/heatsink/top_view.h"
#include "heatsink/tui/table.h"

namespace heatsink::app {

// The keys in the order given, as many as fit, with their titles; nothing when there are none.
void draw_keys(tui::Screen& screen, const tui::Area& area, const std::vector<const KeyView*>& keys);

}  // namespace heatsink::app
