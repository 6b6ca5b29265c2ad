// SPDX-License-Identifier: Apache-2.0
// Writes what is known of each instance as JSON: the answer of GET /api/instances of
// `heatsink watch` (docs/reference/http-api.md).
#pragma once

#include <boost/json/array.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/heatsink/watch/sum.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::app {

// Of each instance: whether it answers and since when, and its totals.
boost::json::array instances_array(const Picture& picture, const httpd::Now& now);

// What each instance counts of one key, with bounds. One that does not name it: at most so many.
std::string key_by_instance_json(const Picture& picture, std::string_view name, std::uint32_t db,
                                 const httpd::Now& now);

}  // namespace heatsink::app
