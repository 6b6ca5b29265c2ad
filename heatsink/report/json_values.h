// SPDX-License-Identifier: Apache-2.0
// Writes numbers, times and key names as JSON values, the same way in all answers.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::report {

// Integers without an exponent, which Boost.JSON writes for each double. Not finite: null.
boost::json::value number(double value);
boost::json::value seconds(Nanos duration);

// Adds a key name of any bytes: escaped for people, and in base64.
void add_name(boost::json::object& out, const std::string& name, bool truncated);

}  // namespace heatsink::report
