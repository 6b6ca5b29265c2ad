// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/events_json.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

void add_relief(json::object& out, const std::optional<LoadRelief>& relief) {
  if (!relief) return;
  out["hits"] = relief->hits;
  out["misses"] = relief->misses;
  out["hit_ratio"] = number(relief->hit_ratio);
  out["offload"] = number(relief->offload);
}

json::object event_object(const Event& event, TimePoint boot, WallTime wall) {
  json::object out;
  out["number"] = event.number;
  out["at"] = iso_time(wall - std::chrono::duration_cast<WallTime::duration>(boot - event.at));
  out["verdict"] = word_for(event);
  out["reason"] = one_line(event.reason, detect::kKeyBytesMax);
  add_relief(out, event.relief);
  if (!has_key(event)) return out;
  add_name(out, event.key, event.key_truncated);
  out["db"] = event.db;
  if (!is_verdict(event)) return out;
  out["before"] = detect::to_string(event.before);
  out["dimension"] = detect::to_string(event.measure.dimension);
  out["window_seconds"] = seconds(event.measure.window);
  out["rule"] = printable(event.rule, detect::kKeyBytesMax);
  out["rate"] = number(event.rate);
  out["share"] = number(event.share);
  return out;
}

}  // namespace

json::array events_array(const std::vector<Event>& events, TimePoint boot, WallTime wall) {
  json::array list;
  list.reserve(events.size());
  for (const Event& event : events) list.push_back(event_object(event, boot, wall));
  return list;
}

std::string events_json(const std::vector<Event>& events, TimePoint boot, WallTime wall) {
  json::object out;
  out["at"] = iso_time(wall);
  out["source"] = "memory";
  out["events"] = events_array(events, boot, wall);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::report
