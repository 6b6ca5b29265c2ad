// SPDX-License-Identifier: Apache-2.0
// How numbers, times and names are written in the JSON of this room.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>

#include "heatsink/base/clock.h"

namespace heatsink::admin {

using WallTime = std::chrono::system_clock::time_point;

// Whole numbers as integers: Boost.JSON writes every double with an exponent. Not finite: null.
boost::json::value number(double value);
boost::json::value seconds(Nanos duration);

// "2026-11-21T12:00:00.123Z"
std::string iso_time(WallTime time);

// The name of a key, as bytes that may be anything: escaped for people, and in base64.
void add_name(boost::json::object& out, const std::string& name, bool truncated);

}  // namespace heatsink::admin
