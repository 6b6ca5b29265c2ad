// SPDX-License-Identifier: Apache-2.0
// Answers /api/events for times that the memory does not have, from the history's file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/report/event.h"

namespace heatsink::app {

// `events`, oldest first, has all that happened since then: it has forgotten others before.
// `began`: since when events are counted.
TimePoint complete_since(const std::vector<report::Event>& events, TimePoint began);

// The events of the file from `from` to `to`, and those of `events` that the file does not have
// yet, as /api/events. Nothing: `events` has them all, or the file cannot be read (the log says
// so).
std::optional<std::string> kept_events_json(const std::string& file,
                                            const std::vector<report::Event>& events,
                                            TimePoint began, WallTime from, WallTime to,
                                            httpd::Now now);

}  // namespace heatsink::app
