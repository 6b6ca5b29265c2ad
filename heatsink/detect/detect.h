// SPDX-License-Identifier: Apache-2.0
// detect: which keys are hot, with error bounds, in fixed memory. Time is an argument. It knows
// keys and accesses, not servers or their protocol. Start with recorder.h (counting), summary.h
// (the counts of a window), selector.h (verdicts).
#pragma once

#include "heatsink/detect/access.h"            // IWYU pragma: export
#include "heatsink/detect/access_log.h"        // IWYU pragma: export
#include "heatsink/detect/distinct_keys.h"     // IWYU pragma: export
#include "heatsink/detect/fleet_window.h"      // IWYU pragma: export
#include "heatsink/detect/hash_index.h"        // IWYU pragma: export
#include "heatsink/detect/key_pattern.h"       // IWYU pragma: export
#include "heatsink/detect/key_template.h"      // IWYU pragma: export
#include "heatsink/detect/measure.h"           // IWYU pragma: export
#include "heatsink/detect/merge.h"             // IWYU pragma: export
#include "heatsink/detect/recorder.h"          // IWYU pragma: export
#include "heatsink/detect/recorder_set.h"      // IWYU pragma: export
#include "heatsink/detect/rules.h"             // IWYU pragma: export
#include "heatsink/detect/selector.h"          // IWYU pragma: export
#include "heatsink/detect/selector_options.h"  // IWYU pragma: export
#include "heatsink/detect/slot_clock.h"        // IWYU pragma: export
#include "heatsink/detect/summary.h"           // IWYU pragma: export
#include "heatsink/detect/verdict.h"           // IWYU pragma: export
#include "heatsink/detect/wire.h"              // IWYU pragma: export
#include "heatsink/detect/wire_bytes.h"        // IWYU pragma: export
