// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/observed_history.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "apps/heatsink/top/past.h"
#include "heatsink/admin/admin.h"

namespace heatsink::app {
namespace {

detect::Temperature temperature_of(std::string_view verdict) {
  for (const detect::Temperature each :
       {detect::Temperature::kHot, detect::Temperature::kWriteHot, detect::Temperature::kWarm})
    if (verdict == detect::to_string(each)) return each;
  return detect::Temperature::kCold;
}

bool is_hot(detect::Temperature temperature) {
  return temperature == detect::Temperature::kHot || temperature == detect::Temperature::kWriteHot;
}

report::KeyReport key_of(const KeyView& key) {
  report::KeyReport out;
  out.verdict.count.key = key.raw_name;
  out.verdict.count.key_truncated = key.name_truncated;
  out.verdict.count.db = static_cast<std::uint32_t>(key.db);
  out.verdict.temperature = temperature_of(key.verdict);
  out.verdict.rate = key.rate;
  return out;
}

report::Report report_of(const HotkeysView& view, TimePoint now) {
  report::Report out;
  out.at = now;
  out.window = view.window;
  out.uptime = view.uptime;
  out.upstream = view.node.upstream;
  out.upstream_up = view.node.upstream_up;
  out.coherence = view.node.coherence;
  out.requests_rate = known(view.node.requests_rate);
  for (const KeyView& key : view.keys) out.keys.push_back(key_of(key));
  return out;
}

report::Event event_of(const KeyView& key, detect::Temperature before, TimePoint now) {
  report::Event out;
  out.at = now;
  out.key = key.raw_name;
  out.key_truncated = key.name_truncated;
  out.db = static_cast<std::uint32_t>(key.db);
  out.temperature = temperature_of(key.verdict);
  out.before = before;
  out.measure.window = key.window;
  out.rule = key.rule;
  out.rate = key.rate;
  out.share = key.share;
  out.reason = key.reason;
  return out;
}

}  // namespace

void ObservedHistory::add(TopAnswer answer, TimePoint now) {
  if (!answer.view.only_begins()) heat_.add(moment_of(answer.view, now));
  const std::lock_guard lock(mutex_);
  problem_.clear();
  json_ = std::move(answer.json);
  report_ = report_of(answer.view, now);
  note_verdicts(answer.view, now);
}

// REQUIRES mutex_. A key that is no longer listed has no verdict to show, so its end is no event.
void ObservedHistory::note_verdicts(const HotkeysView& view, TimePoint now) {
  for (const KeyView& key : view.keys) {
    const detect::Temperature is = temperature_of(key.verdict);
    const std::pair id{key.raw_name, key.db};
    const auto found = verdicts_.find(id);
    const detect::Temperature was =
        found == verdicts_.end() ? detect::Temperature::kCold : found->second;
    if (is == was || (!is_hot(is) && !is_hot(was))) continue;
    if (found == verdicts_.end() && verdicts_.size() >= kVerdictsMax) verdicts_.clear();
    verdicts_[id] = is;
    if (events_.size() == kEventsMax) events_.pop_front();
    events_.push_back(event_of(key, was, now));
    events_.back().number = ++last_event_;
  }
}

void ObservedHistory::failed(std::string why) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(why);
}

std::vector<report::Event> ObservedHistory::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

report::Report ObservedHistory::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::string ObservedHistory::json() const {
  const std::lock_guard lock(mutex_);
  return json_;
}

std::string ObservedHistory::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::vector<httpd::Route> pages_of(const ObservedHistory& history) {
  admin::Sources sources;
  sources.report = [&history] { return history.report(); };
  sources.metrics = [] { return std::string(); };
  sources.events = [&history] { return history.events(); };
  sources.ready = [&history] {
    const std::string problem = history.problem();
    return problem.empty() ? Status(Unit{}) : Error{ErrorCode::kUnavailable, problem};
  };
  sources.heatmap = [&history](const heat::History::Range& range, httpd::Now /*now*/) {
    return history.heat().read(range);
  };
  sources.recent_heatmap = [&history](const heat::History::Range& range) {
    return history.heat().read(range);
  };
  std::vector<httpd::Route> routes = admin::pages_of(std::move(sources));
  // A source has facts that a proxy's report does not have: its cost, its blind spots, latencies.
  const auto hotkeys = std::ranges::find(routes, "/api/hotkeys", &httpd::Route::path);
  hotkeys->get = [&history](const httpd::Question& /*asked*/) {
    std::string json = history.json();
    if (json.empty()) return httpd::Answer{503, history.problem() + "\n"};
    return httpd::json_answer(std::move(json));
  };
  return routes;
}

}  // namespace heatsink::app
