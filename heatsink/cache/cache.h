// SPDX-License-Identifier: Apache-2.0
// cache: local copies of hot keys, and the rule that decides when the proxy may serve one. Time is
// an argument; nothing here knows Redis. Start with key_rule.h (the rule), then hot_table.h (the
// copies), then fences.h and proof_state.h (the inputs of the rule).
#pragma once

#include "heatsink/cache/consistency_policy.h"  // IWYU pragma: export
#include "heatsink/cache/copy.h"                // IWYU pragma: export
#include "heatsink/cache/entry.h"               // IWYU pragma: export
#include "heatsink/cache/epochs.h"              // IWYU pragma: export
#include "heatsink/cache/eviction_queue.h"      // IWYU pragma: export
#include "heatsink/cache/fences.h"              // IWYU pragma: export
#include "heatsink/cache/hot_table.h"           // IWYU pragma: export
#include "heatsink/cache/kept_names.h"          // IWYU pragma: export
#include "heatsink/cache/key_rule.h"            // IWYU pragma: export
#include "heatsink/cache/proof_state.h"         // IWYU pragma: export
#include "heatsink/cache/read.h"                // IWYU pragma: export
#include "heatsink/cache/read_guard.h"          // IWYU pragma: export
#include "heatsink/cache/read_guard_inline.h"   // IWYU pragma: export
#include "heatsink/cache/unproven_copy.h"       // IWYU pragma: export
#include "heatsink/cache/write_counting.h"      // IWYU pragma: export
