// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history_file.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "apps/heatsink/kept_events.h"
#include "heatsink/base/log.h"

namespace heatsink::app {
namespace {

// The memory forgets its oldest columns one by one, and the page asks for a little more than it
// shows.
constexpr Nanos kMargin = std::chrono::seconds(5);

WallTime wall_at(TimePoint moment) {
  return httpd::Now{BootClock::now(), std::chrono::system_clock::now()}.wall_at(moment);
}

// A time since 1970 on the clock that the memory's times have.
TimePoint boot_at(TimePoint of_day, httpd::Now now) {
  const auto since_1970 = std::chrono::duration_cast<Nanos>(now.wall.time_since_epoch());
  return now.boot - (since_1970 - of_day.time_since_epoch());
}

// With times of the clock that the memory's have.
Result<heat::HeatMap> read_file(const std::string& file, const heat::History::Range& range,
                                httpd::Now now) {
  Result<heat::HeatMap> map = history::read_heat(file, {.from = now.wall_at(range.from),
                                                        .to = now.wall_at(range.to),
                                                        .step_s = range.step_s,
                                                        .after = range.after,
                                                        .rows_max = range.rows_max});
  if (!map.ok()) return map;
  for (heat::HeatMap::Step& step : map->steps) step.begin = boot_at(step.begin, now);
  return map;
}

}  // namespace

std::unique_ptr<history::Writer> history_writer(const policy::ProxyOptions& options) {
  if (options.history_file.empty()) return nullptr;
  return std::make_unique<history::Writer>(history::FileOptions{
      .path = options.history_file,
      .maximum_size = options.history_size,
      .maximum_age = std::chrono::duration_cast<std::chrono::seconds>(options.history_age)});
}

copies::Recording recording_to(history::Writer* writer) {
  if (writer == nullptr) return {};
  return {.moment =
              [writer](const heat::Moment& moment) {
                writer->add(history::Second{.end = wall_at(moment.at), .moment = moment});
              },
          .event =
              [writer](const report::Event& event) {
                writer->add(history::kept(event, wall_at(event.at)));
              }};
}

void add_heatmap(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file) {
  sources.has_history_file = !file.empty();
  sources.recent_heatmap = [&proxy](const heat::History::Range& range) {
    return proxy.heat().read(range);
  };
  sources.counts = [&proxy] { return proxy.heat().latest(); };
  sources.heatmap = [&proxy, file](const heat::History::Range& range, httpd::Now now) {
    const std::optional<TimePoint> begins = proxy.heat().begins();
    const bool is_in_memory = begins && range.from + kMargin >= *begins;
    if (file.empty() || is_in_memory) return proxy.heat().read(range);
    Result<heat::HeatMap> map = read_file(file, range, now);
    if (map.ok()) return std::move(map).value();
    log_limited(LogLevel::kWarning, "history read", map.error().message, now.boot);
    return proxy.heat().read(range);
  };
}

void add_sums(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file) {
  sources.sums = [&proxy, file](TimePoint from, TimePoint to,
                                httpd::Now now) -> Result<heat::Sums> {
    if (proxy.shown().redacts())
      return Error{ErrorCode::kUnsupported,
                   "privacy.redact-keys is on, so the history has no names to match"};
    const TimePoint begins = proxy.heat().begins().value_or(to);
    const bool is_in_memory = from + kMargin >= begins;
    if (!file.empty() && !is_in_memory) {
      Result<heat::Sums> sums =
          history::read_sums(file, {.from = now.wall_at(from), .to = now.wall_at(to)});
      if (sums.ok()) {
        for (TimePoint* const time : {&sums->from, &sums->to}) *time = boot_at(*time, now);
        return sums;
      }
      log_limited(LogLevel::kWarning, "history read", sums.error().message, now.boot);
    }
    // A younger process has finer columns.
    return proxy.heat().sums({.from = std::max(from, begins), .to = to});
  };
}

void add_events(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file) {
  sources.events = [&proxy] { return proxy.events(); };
  if (file.empty()) return;
  sources.kept_events = [&proxy, file, began = BootClock::now()](WallTime from, WallTime to,
                                                                 httpd::Now now) {
    return kept_events_json(file, proxy.events(), began, from, to, now);
  };
}

void add_finding(const history::Writer* writer, doctor::Diagnosis& diagnosis) {
  const auto problem = writer == nullptr ? history::Writer::Problem() : writer->problem();
  if (problem.what.empty()) return;
  diagnosis.findings.push_back({.level = doctor::Level::kWarning,
                                .what = problem.what,
                                .cost = "what is hot now is not kept beyond a restart",
                                .mend = problem.mend,
                                .code = "history"});
}

}  // namespace heatsink::app
