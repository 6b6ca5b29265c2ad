// SPDX-License-Identifier: Apache-2.0
// copies: keeps the local copies of hot keys true, and says when one may be served.
// Start with keeper.h, the one thread that decides what is copied, and worker_copies.h, what a
// worker does with the copies. They share a NodeState. Knows no client and no connection of
// clients.
#pragma once

#include "heatsink/copies/copy_keeper.h"         // IWYU pragma: export
#include "heatsink/copies/counters.h"            // IWYU pragma: export
#include "heatsink/copies/duration_histogram.h"  // IWYU pragma: export
#include "heatsink/copies/effects.h"             // IWYU pragma: export
#include "heatsink/copies/fill_waiters.h"        // IWYU pragma: export
#include "heatsink/copies/keeper_listener.h"     // IWYU pragma: export
#include "heatsink/copies/local_reads.h"         // IWYU pragma: export
#include "heatsink/copies/node_state.h"          // IWYU pragma: export
#include "heatsink/copies/paced_timers.h"        // IWYU pragma: export
#include "heatsink/copies/permission_cache.h"    // IWYU pragma: export
#include "heatsink/copies/read_hits.h"           // IWYU pragma: export
#include "heatsink/copies/touched_keys.h"        // IWYU pragma: export
#include "heatsink/copies/worker_copies.h"       // IWYU pragma: export
