// SPDX-License-Identifier: Apache-2.0
// distributed: limits and statistics that many processes share, stored on their Redis server. Start
// with rate_limiter.h, window_statistics.h or spread_keys.h; all use server.h, which calls
// heatsink's functions on the server.
#pragma once

#include "heatsink/distributed/function_caller.h"       // IWYU pragma: export
#include "heatsink/distributed/function_library.h"      // IWYU pragma: export
#include "heatsink/distributed/limit_functions.h"       // IWYU pragma: export
#include "heatsink/distributed/rate_limiter.h"          // IWYU pragma: export
#include "heatsink/distributed/rate_limiter_metrics.h"  // IWYU pragma: export
#include "heatsink/distributed/server.h"                // IWYU pragma: export
#include "heatsink/distributed/server_error.h"          // IWYU pragma: export
#include "heatsink/distributed/server_nodes.h"          // IWYU pragma: export
#include "heatsink/distributed/spread_functions.h"      // IWYU pragma: export
#include "heatsink/distributed/spread_keys.h"           // IWYU pragma: export
#include "heatsink/distributed/statistic_form.h"        // IWYU pragma: export
#include "heatsink/distributed/statistic_functions.h"   // IWYU pragma: export
#include "heatsink/distributed/statistic_key.h"         // IWYU pragma: export
#include "heatsink/distributed/statistic_reading.h"     // IWYU pragma: export
#include "heatsink/distributed/window_statistics.h"     // IWYU pragma: export
