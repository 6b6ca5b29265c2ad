// SPDX-License-Identifier: Apache-2.0
// limit: how much of something may happen in a time. Time is an argument. Start with limiter.h: one
// interface, four algorithms that differ in what they let through at once.
#pragma once

#include "heatsink/limit/limiter.h"  // IWYU pragma: export
#include "heatsink/limit/rate.h"     // IWYU pragma: export
