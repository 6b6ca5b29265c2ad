// SPDX-License-Identifier: Apache-2.0
// tui: cells, tables, sparklines, and short numbers for terminal screens. State in, screen out;
// only terminal.h uses a terminal. Start with screen.h; pure functions make a picture, and tests
// compare it as text.
#pragma once

#include "heatsink/tui/number.h"    // IWYU pragma: export
#include "heatsink/tui/screen.h"    // IWYU pragma: export
#include "heatsink/tui/table.h"     // IWYU pragma: export
#include "heatsink/tui/terminal.h"  // IWYU pragma: export
#include "heatsink/tui/text.h"      // IWYU pragma: export
