// SPDX-License-Identifier: Apache-2.0
// base: results, units, clocks, hashes, buffers, option and metric rows, log. Knows nothing of
// Redis. Start here: all other rooms may include this room, and it includes none.
#pragma once

#include "heatsink/base/base64.h"               // IWYU pragma: export
#include "heatsink/base/blocked_signals.h"      // IWYU pragma: export
#include "heatsink/base/byte_buffer.h"          // IWYU pragma: export
#include "heatsink/base/clock.h"                // IWYU pragma: export
#include "heatsink/base/config_file.h"          // IWYU pragma: export
#include "heatsink/base/direct_mapped_table.h"  // IWYU pragma: export
#include "heatsink/base/hash.h"                 // IWYU pragma: export
#include "heatsink/base/hash_inline.h"          // IWYU pragma: export
#include "heatsink/base/heartbeat_key.h"        // IWYU pragma: export
#include "heatsink/base/log.h"                  // IWYU pragma: export
#include "heatsink/base/memory_reserve.h"       // IWYU pragma: export
#include "heatsink/base/metric.h"               // IWYU pragma: export
#include "heatsink/base/nearest.h"              // IWYU pragma: export
#include "heatsink/base/option.h"               // IWYU pragma: export
#include "heatsink/base/option_list.h"          // IWYU pragma: export
#include "heatsink/base/option_print.h"         // IWYU pragma: export
#include "heatsink/base/printable.h"            // IWYU pragma: export
#include "heatsink/base/process_limits.h"       // IWYU pragma: export
#include "heatsink/base/process_metrics.h"      // IWYU pragma: export
#include "heatsink/base/random.h"               // IWYU pragma: export
#include "heatsink/base/reference_table.h"      // IWYU pragma: export
#include "heatsink/base/result.h"               // IWYU pragma: export
#include "heatsink/base/sanitizers.h"           // IWYU pragma: export
#include "heatsink/base/secret_file.h"          // IWYU pragma: export
#include "heatsink/base/sign_of_life.h"         // IWYU pragma: export
#include "heatsink/base/thread_cpu.h"           // IWYU pragma: export
#include "heatsink/base/timed_write.h"          // IWYU pragma: export
#include "heatsink/base/units.h"                // IWYU pragma: export
#include "heatsink/base/version.h"              // IWYU pragma: export
#include "heatsink/base/wall_time.h"            // IWYU pragma: export
#include "heatsink/base/zipf.h"                 // IWYU pragma: export
