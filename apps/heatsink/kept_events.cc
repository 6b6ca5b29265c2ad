// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/kept_events.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>

#include "apps/heatsink/history/event_json.h"
#include "heatsink/base/log.h"
#include "heatsink/history/history.h"
#include "heatsink/report/events_json.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// The clocks of the day and of the machine drift apart by so much between an event and its answer.
constexpr auto kSameEvent = Millis(20);

// Events of the range that are later than the file's last one.
std::vector<report::Event> newer_than(const std::vector<history::KeptEvent>& kept,
                                      std::vector<report::Event> events, WallTime from, WallTime to,
                                      httpd::Now now) {
  const WallTime last = kept.empty() ? from : kept.back().at + kSameEvent;
  std::erase_if(events, [&](const report::Event& event) {
    const WallTime at = now.wall_at(event.at);
    return at < last || at >= to + std::chrono::seconds(1);
  });
  return events;
}

}  // namespace

TimePoint complete_since(const std::vector<report::Event>& events, TimePoint began) {
  std::size_t i = events.size();
  if (i == 0) return began;
  --i;
  while (i > 0 && events[i - 1].number + 1 == events[i].number) --i;
  return events[i].number == 1 ? began : events[i].at;
}

std::optional<std::string> kept_events_json(const std::string& file,
                                            const std::vector<report::Event>& events,
                                            TimePoint began, WallTime from, WallTime to,
                                            httpd::Now now) {
  if (from >= now.wall_at(complete_since(events, began))) return std::nullopt;
  const Result<std::vector<history::KeptEvent>> kept =
      history::read_events(file, {.from = from, .to = to});
  if (!kept.ok()) {
    log_limited(LogLevel::kWarning, "history read", kept.error().message, now.boot);
    return std::nullopt;
  }
  json::array list;
  for (const history::KeptEvent& event : *kept) {
    json::object each = event_object(event);
    each["number"] = nullptr;
    list.push_back(std::move(each));
  }
  const json::array newer =
      report::events_array(newer_than(*kept, events, from, to, now), now.boot, now.wall);
  for (const json::value& event : newer) list.push_back(event);
  return json::serialize(json::object{
             {"at", iso_time(now.wall)}, {"source", "file"}, {"events", std::move(list)}}) +
         "\n";
}

}  // namespace heatsink::app
