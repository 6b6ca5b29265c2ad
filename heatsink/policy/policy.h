// SPDX-License-Identifier: Apache-2.0
// policy: turns the configuration into rules: which keys are hot, copied, limited and warmed, and
// how. Start with options.h, which declares all options; rules.h and levels.h say what they mean
// for one key. Knows no connection and no thread; only limits.h keeps state, which all workers
// share.
#pragma once

#include "heatsink/policy/alert_options.h"     // IWYU pragma: export
#include "heatsink/policy/announced.h"         // IWYU pragma: export
#include "heatsink/policy/automatic_limits.h"  // IWYU pragma: export
#include "heatsink/policy/difference.h"        // IWYU pragma: export
#include "heatsink/policy/key_display.h"       // IWYU pragma: export
#include "heatsink/policy/levels.h"            // IWYU pragma: export
#include "heatsink/policy/limit_policy.h"      // IWYU pragma: export
#include "heatsink/policy/limits.h"            // IWYU pragma: export
#include "heatsink/policy/needed_rights.h"     // IWYU pragma: export
#include "heatsink/policy/options.h"           // IWYU pragma: export
#include "heatsink/policy/replica_reads.h"     // IWYU pragma: export
#include "heatsink/policy/rules.h"             // IWYU pragma: export
#include "heatsink/policy/spread_policy.h"     // IWYU pragma: export
#include "heatsink/policy/tls.h"               // IWYU pragma: export
#include "heatsink/policy/warm_options.h"      // IWYU pragma: export
#include "heatsink/policy/warm_window.h"       // IWYU pragma: export
