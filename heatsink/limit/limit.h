// SPDX-License-Identifier: Apache-2.0
// limit: rate limiters: how often something may happen. Time is an argument. Start with limiter.h:
// one interface, four algorithms that differ in how much they allow at once. limiter_table.h has
// one limiter for each of many keys.
#pragma once

#include "heatsink/limit/carry_over.h"     // IWYU pragma: export
#include "heatsink/limit/limiter.h"        // IWYU pragma: export
#include "heatsink/limit/limiter_table.h"  // IWYU pragma: export
#include "heatsink/limit/rate.h"           // IWYU pragma: export
#include "heatsink/limit/shared_limits.h"  // IWYU pragma: export
