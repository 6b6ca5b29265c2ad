// SPDX-License-Identifier: Apache-2.0
// Reads what heatmap_json() has written: for programs that ask a proxy for its history.
#pragma once

#include <cstddef>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/heat/heat_map.h"

namespace heatsink::heat {

inline constexpr std::size_t kHeatmapBytesMax = 8U << 20U;  // of the text; ours have at most 3 MB

// From any process: beyond kHeatmapBytesMax, History::kStepsMax or History::kRowsMax, without a
// member, or with a mistyped one it is kProtocol, and the message names the member. Rows of kinds
// that are not known here are skipped; totals and bounds that are missing are NaN. Each step begins
// at its time of day: TimePoint counts from 1970 in it.
Result<HeatMap> parse_heatmap(std::string_view json);

}  // namespace heatsink::heat
