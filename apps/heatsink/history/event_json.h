// SPDX-License-Identifier: Apache-2.0
// Writes an event of the history's file as JSON: the members of /api/events that a file keeps.
#pragma once

#include <boost/json/object.hpp>

#include "heatsink/history/history.h"

namespace heatsink::app {

// Valid UTF-8, whatever the file has.
boost::json::object event_object(const history::KeptEvent& event);

}  // namespace heatsink::app
