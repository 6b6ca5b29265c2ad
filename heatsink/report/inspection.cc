// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/inspection.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/events_json.h"
#include "heatsink/report/hotkeys_json.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

constexpr std::size_t kProblemBytesMax = 1024;

void add_value(const KeyInspection& told, KeyView& key) {
  key.type = printable(told.type);
  key.encoding = printable(told.encoding);
  key.value_bytes = told.value_bytes;
  key.memory_bytes = told.memory_bytes;
  key.ttl = told.ttl;
  key.never_expires = told.never_expires;
  key.value_problem = one_line(told.problem, kProblemBytesMax);
}

}  // namespace

std::string key_json(const KeyInspection& told, TimePoint boot, WallTime wall) {
  const WallTime wall_at =
      wall - std::chrono::duration_cast<WallTime::duration>(boot - told.report.at);
  json::object out = hotkeys_object(told.report, wall_at,
                                    [&](std::size_t, KeyView& key) { add_value(told, key); });
  for (json::value& row : out["keys"].as_array()) row.as_object().emplace("value_problem", "");
  out["events"] = events_array(told.events, boot, wall);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::report
