// SPDX-License-Identifier: Apache-2.0
// advice: calculates which reliefs take load off a key, by how much, and why others do not help.
// Arithmetic only: the caller provides the traffic. Start with advise.h; remedies_of_*.h have one
// function for each relief, effects.h the formulas, lines.h the lines to paste.
#pragma once

#include "heatsink/advice/advise.h"       // IWYU pragma: export
#include "heatsink/advice/effects.h"      // IWYU pragma: export
#include "heatsink/advice/key_traffic.h"  // IWYU pragma: export
#include "heatsink/advice/lines.h"        // IWYU pragma: export
#include "heatsink/advice/relief.h"       // IWYU pragma: export
#include "heatsink/advice/slots.h"        // IWYU pragma: export
