// SPDX-License-Identifier: Apache-2.0
// Reads orders to warm keys from JSON, and writes their results (docs/reference/http-api.md).
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/report/json_values.h"
#include "heatsink/report/warming.h"

namespace heatsink::report {

// {"keys": ["a", {"name_base64": "/w==", "db": 3}], "for_seconds": 1800}, or instead of keys
// "pattern" or "pattern_base64", with "db", "limit", "concurrency" and "rate". With `ends`: without
// the time; or {"search": 7}. An error names the fault and its place.
Result<WarmOrder> parse_warm_order(std::string_view body, bool ends);

// `wall_at` is the wall clock at report.at.
std::string warm_json(const WarmReport& report, WallTime wall_at);

}  // namespace heatsink::report
