// SPDX-License-Identifier: Apache-2.0
// An order to drop the local copies of a key, as the JSON of the admin API.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/report/warming.h"

namespace heatsink::report {

// The outcome of such an order. A plain value.
struct DropReport {
  TimePoint at{};
  std::string problem{};   // why nothing could be done; "": the rest says what was
  WarmKey key{};           // its name as it may be shown
  std::size_t copies = 0;  // that were dropped: one for each read of the key
  Bytes bytes{0};          // of them
  std::string next{};      // a sentence: whether copies of the key come back
};

// POST /api/copies/drop: {"name": "product:1"}, or {"name_base64": "...", "db": 0}. `body` is
// hostile.
Result<WarmKey> parse_drop_order(std::string_view body);
std::string drop_order_json(const WarmKey& key);

// Valid UTF-8, as hotkeys_json(). `wall_at` is report.at.
std::string drop_json(const DropReport& report, WallTime wall_at);

}  // namespace heatsink::report
