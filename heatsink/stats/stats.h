// SPDX-License-Identifier: Apache-2.0
// stats: count, sum, mean, extremes and quantiles of numbers over a sliding window. Time is an
// argument. Start with window.h; its result is a Summary, and summaries can be merged.
#pragma once

#include "heatsink/stats/histogram.h"  // IWYU pragma: export
#include "heatsink/stats/summary.h"    // IWYU pragma: export
#include "heatsink/stats/window.h"     // IWYU pragma: export
