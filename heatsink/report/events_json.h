// SPDX-License-Identifier: Apache-2.0
// Writes events as JSON: the answer of GET /api/events.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "heatsink/report/event.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {

// `boot` and `wall` are the same moment on both clocks. Valid UTF-8, as hotkeys_json(). O(events).
std::string events_json(const std::vector<Event>& events, TimePoint boot, WallTime wall);
boost::json::array events_array(const std::vector<Event>& events, TimePoint boot, WallTime wall);

}  // namespace heatsink::report
