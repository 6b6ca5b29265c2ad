// SPDX-License-Identifier: Apache-2.0
// Writes what would relieve the keys of a report as JSON, for the page of the admin API.
#pragma once

#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/report/inspection.h"
#include "heatsink/report/node_report.h"

namespace heatsink::app {

// GET /api/advice: for each listed key the advice in a sentence, and its best remedy. `wall`: the
// time of day of report.at. About 20 us per key.
Result<std::string> advice_json(const report::Report& report, WallTime wall);
// GET /api/explain: what heatsink explain --json prints. `boot` and `wall` are the same moment.
Result<std::string> explained_json(const report::KeyInspection& key, TimePoint boot, WallTime wall);

}  // namespace heatsink::app
