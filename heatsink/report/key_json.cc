// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/key_json.h"

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

// Unknown values have no member, as in the rows of an observed server.
void add_value(const KeyInspection& told, json::object& row) {
  if (!told.type.empty()) row["type"] = printable(told.type);
  if (!told.encoding.empty()) row["encoding"] = printable(told.encoding);
  if (told.value_bytes) row["value_bytes"] = told.value_bytes->count;
  if (told.memory_bytes) row["memory_bytes"] = told.memory_bytes->count;
  if (told.ttl) row["ttl_seconds"] = seconds(*told.ttl);
  if (told.never_expires) row["never_expires"] = true;
  row["value_problem"] = one_line(told.problem, kProblemBytesMax);
}

}  // namespace

std::string key_json(const KeyInspection& told, TimePoint boot, WallTime wall) {
  const WallTime wall_at =
      wall - std::chrono::duration_cast<WallTime::duration>(boot - told.report.at);
  json::object out = hotkeys_object(told.report, wall_at);
  for (json::value& row : out["keys"].as_array()) add_value(told, row.as_object());
  out["events"] = events_array(told.events, boot, wall);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::report
