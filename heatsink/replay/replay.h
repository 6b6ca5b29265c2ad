// SPDX-License-Identifier: Apache-2.0
// replay: recorded traffic played in virtual time: what was hot, and what copies would have saved.
// Start with read_trace.h (from a file to a trace), earned_copies.h (what copies save), savings.h
// and recommend.h (copies of hot keys only, by thresholds) and accuracy.h (the detector against
// exact counts).
#pragma once

#include "heatsink/replay/accuracy.h"        // IWYU pragma: export
#include "heatsink/replay/byte_source.h"     // IWYU pragma: export
#include "heatsink/replay/copy_simulator.h"  // IWYU pragma: export
#include "heatsink/replay/earned_copies.h"   // IWYU pragma: export
#include "heatsink/replay/facts.h"           // IWYU pragma: export
#include "heatsink/replay/key_mix.h"         // IWYU pragma: export
#include "heatsink/replay/read_trace.h"      // IWYU pragma: export
#include "heatsink/replay/recommend.h"       // IWYU pragma: export
#include "heatsink/replay/savings.h"         // IWYU pragma: export
#include "heatsink/replay/trace.h"           // IWYU pragma: export
