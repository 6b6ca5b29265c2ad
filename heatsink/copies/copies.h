// SPDX-License-Identifier: Apache-2.0
// copies: keeps the local copies of hot keys consistent with the server, and decides when one may
// be served. Start with copy_keeper.h, the one thread that decides which keys are copied, and
// worker_copies.h, the use of the copies in a worker. They share a NodeState. This room knows
// nothing about clients and their connections. Include verdict_inbox.h yourself.
#pragma once

#include "heatsink/copies/ask_loop.h"            // IWYU pragma: export
#include "heatsink/copies/client_commands.h"     // IWYU pragma: export
#include "heatsink/copies/copy_chooser.h"        // IWYU pragma: export
#include "heatsink/copies/copy_keeper.h"         // IWYU pragma: export
#include "heatsink/copies/counters.h"            // IWYU pragma: export
#include "heatsink/copies/duration_histogram.h"  // IWYU pragma: export
#include "heatsink/copies/effects.h"             // IWYU pragma: export
#include "heatsink/copies/fill_waiters.h"        // IWYU pragma: export
#include "heatsink/copies/keeper_listener.h"     // IWYU pragma: export
#include "heatsink/copies/local_reads.h"         // IWYU pragma: export
#include "heatsink/copies/near_mail.h"           // IWYU pragma: export
#include "heatsink/copies/node_state.h"          // IWYU pragma: export
#include "heatsink/copies/paced_timers.h"        // IWYU pragma: export
#include "heatsink/copies/permission_cache.h"    // IWYU pragma: export
#include "heatsink/copies/policy_snapshot.h"     // IWYU pragma: export
#include "heatsink/copies/read_hits.h"           // IWYU pragma: export
#include "heatsink/copies/sampled_sizes.h"       // IWYU pragma: export
#include "heatsink/copies/touched_keys.h"        // IWYU pragma: export
#include "heatsink/copies/worker_copies.h"       // IWYU pragma: export
