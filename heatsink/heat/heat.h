// SPDX-License-Identifier: Apache-2.0
// heat: what was hot when. Keeps a column of the busiest keys for each second, and coarser ones for
// a week, in fixed memory. Start with history.h; GET /api/heatmap reads it. It knows no proxy:
// the counter of keys adds a Moment each second.
#pragma once

#include "heatsink/heat/column.h"         // IWYU pragma: export
#include "heatsink/heat/column_stream.h"  // IWYU pragma: export
#include "heatsink/heat/heat_map.h"       // IWYU pragma: export
#include "heatsink/heat/heatmap_json.h"   // IWYU pragma: export
#include "heatsink/heat/history.h"        // IWYU pragma: export
#include "heatsink/heat/moment.h"         // IWYU pragma: export
#include "heatsink/heat/moment_json.h"    // IWYU pragma: export
#include "heatsink/heat/packed_column.h"  // IWYU pragma: export
#include "heatsink/heat/parse_heatmap.h"  // IWYU pragma: export
#include "heatsink/heat/scale.h"          // IWYU pragma: export
#include "heatsink/heat/sums.h"           // IWYU pragma: export
