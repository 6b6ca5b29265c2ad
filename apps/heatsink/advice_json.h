// SPDX-License-Identifier: Apache-2.0
// Writes as JSON, for the admin API, what would relieve the keys of a report, and whether moving
// slots helps.
#pragma once

#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/report/report.h"

namespace heatsink::app {

// GET /api/advice: for each listed key the advice in a sentence, and its best remedy. `wall`: the
// time of day of report.at. About 20 us per key.
Result<std::string> advice_json(const report::Report& report, WallTime wall);
// GET /api/explain: what heatsink explain --json prints. `boot` and `wall` are the same moment.
Result<std::string> explained_json(const report::KeyInspection& key, TimePoint boot, WallTime wall);

// GET /api/slots: the load of the nodes and slots of a cluster, and whether moving slots helps; ""
// without a cluster. Pure.
std::string slots_json(const report::Report& report);

}  // namespace heatsink::app
