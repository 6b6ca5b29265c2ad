// SPDX-License-Identifier: Apache-2.0
// Writes a part of the history as JSON: the answer of GET /api/heatmap
// (docs/reference/http-api.md).
#pragma once

#include <functional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat_map.h"

namespace heatsink::heat {

// `wall_at`: the time of day of a moment. Always valid UTF-8: names are escaped, and also given in
// base64. `has_file`: older columns may be asked for, because a file keeps them. O(rows x steps).
std::string heatmap_json(const HeatMap& map, const std::function<WallTime(TimePoint)>& wall_at,
                         bool has_file = false);

}  // namespace heatsink::heat
