// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/page_events.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/events_json.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/json_values.h"

namespace heatsink::admin {
namespace {

namespace json = boost::json;

// More columns at once are sent as /api/heatmap has them: a reader may miss none of the names.
constexpr std::size_t kSingleColumns = 3;

std::string message(std::string_view event, const std::string& data,
                    std::optional<std::int64_t> id = std::nullopt) {
  std::string out;
  if (id) out = "id: " + std::to_string(*id) + "\n";
  out += "event: " + std::string(event) + "\ndata: ";
  out += std::string_view(data).substr(0, data.find('\n'));  // JSON is one line
  return out + "\n\n";
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Other than rates: names, verdicts, copies and limits.
std::uint64_t signature_of(const report::Report& report) {
  std::string text = report.hot_means;
  for (const report::KeyReport& key : report.keys) {
    text += key.verdict.count.key;
    text += {'\0', static_cast<char>('0' + static_cast<int>(key.verdict.temperature)),
             key.cached ? 'c' : '-', key.warmed ? 'w' : '-'};
    text += std::to_string(key.verdict.count.db) + key.limit + key.level;
  }
  return std::hash<std::string>()(text);
}

// Some members of `node` in /api/hotkeys.
json::object node_of(const report::Report& report) {
  json::object node{{"upstream_up", report.upstream_up},
                    {"coherence", printable(report.coherence)},
                    {"requests_rate", report::number(report.requests_rate)},
                    {"hit_ratio", report::number(report.hit_ratio)},
                    {"offload", report::number(report.offload)},
                    {"clients", report.clients},
                    {"cached_entries", report.cached_entries},
                    {"stale_confirmed", report.stale_confirmed}};
  if (report.server_cpu) node["cpu_offload"] = report::number(report.server_cpu->offload);
  return node;
}

}  // namespace

heat::HeatMap PageEvents::since(std::int64_t number, TimePoint until, const httpd::Now& now) const {
  return sources_.heatmap({.from = now.boot - std::chrono::seconds(kResumesFor + 2),
                           .to = until,
                           .step_s = 1,
                           .after = number,
                           .rows_max = heat::History::kRowsMax});
}

std::string PageEvents::columns(const httpd::Now& now) {
  heat::HeatMap map = since(sent_.value_or(INT64_MIN), now.boot, now);
  if (map.steps.empty()) return "";
  const std::int64_t newest = map.steps.back().number;
  const bool is_first = !std::exchange(sent_, newest).has_value();
  const auto wall_at = [&now](TimePoint moment) { return now.wall_at(moment); };
  if (!is_first && map.steps.size() > kSingleColumns)
    return message("columns", heat::heatmap_json(map, wall_at), newest);
  std::string out;
  for (std::size_t i = is_first ? map.steps.size() - 1 : 0; i < map.steps.size(); ++i) {
    const json::object column = stream_.column(map, i, wall_at(map.steps[i].begin));
    out += message("column", json::serialize(column), map.steps[i].number);
  }
  return out;
}

std::string PageEvents::state(const httpd::Now& now) {
  const report::Report report = sources_.report();
  const std::uint64_t signature = signature_of(report);
  std::vector<report::Event> events = sources_.events();
  const std::uint64_t newest = events.empty() ? 0 : events.back().number;
  const std::uint64_t seen = seen_.value_or(newest);
  std::erase_if(events, [seen](const report::Event& event) { return event.number <= seen; });
  if (events.size() > kEventsMax) events.erase(events.begin(), events.end() - kEventsMax);
  seen_ = newest;
  json::object out{{"at", iso_time(now.wall)},
                   {"keys_changed", std::exchange(signature_, signature) != signature},
                   {"node", node_of(report)},
                   {"events", report::events_array(events, now.boot, now.wall)}};
  return message("state", json::serialize(out));
}

std::string PageEvents::next(const httpd::Now& now) {
  next_at_ = now.boot;
  return columns(now) + state(now);
}

std::string PageEvents::first(const httpd::Now& now, std::string_view last_id) {
  std::string out = message("names", json::serialize(json::object{{"names", stream_.names()}}));
  const std::optional<std::int64_t> last = number_in(last_id);
  if (!last) return out;
  // Columns are numbered by the second; a later number is of another machine.
  const std::int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(now.boot.time_since_epoch()).count();
  if (*last < second - kResumesFor || *last > second)
    return out + message("gap", json::serialize(json::object{{"after", *last}}));
  // While others read, what next() has not sent yet will come from there.
  const bool has_readers = next_at_ && now.boot - *next_at_ < kIdleAfter;
  const TimePoint until = has_readers && sent_ ? TimePoint(std::chrono::seconds(*sent_)) : now.boot;
  const heat::HeatMap map = since(*last, until, now);
  if (!has_readers) sent_ = map.steps.empty() ? *last : map.steps.back().number;
  if (map.steps.empty()) return out;
  return out + message("columns",
                       heat::heatmap_json(map, [&now](TimePoint at) { return now.wall_at(at); }),
                       map.steps.back().number);
}

std::shared_ptr<const httpd::EventSource> event_source_of(PageEvents::Sources sources) {
  const auto events = std::make_shared<PageEvents>(std::move(sources));
  auto out = std::make_shared<httpd::EventSource>();
  out->next = [events](const httpd::Now& now) { return events->next(now); };
  out->first = [events](const httpd::Now& now, std::string_view last_id) {
    return events->first(now, last_id);
  };
  return out;
}

}  // namespace heatsink::admin
