// SPDX-License-Identifier: Apache-2.0
// The part of a Core that serves its page over HTTP (admin.listen).
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/client/core.h"
#include "heatsink/client/metrics.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/address.h"
#include "heatsink/report/events_json.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/report.h"

namespace heatsink::client {
namespace {

std::string token_of(const ClientOptions& options) {
  if (options.admin_token_file.empty()) return options.admin_token;
  Result<std::string> token = read_secret_file(options.admin_token_file);
  if (!token.ok()) throw std::invalid_argument("admin.token-file: " + token.error().message);
  return std::move(token).value();
}

std::string source_of(const ClientOptions& options) {
  if (options.server_url.empty()) return "the loader";
  return net::parse_upstream_url(options.server_url)->display();
}

std::string why_no_copy(const ClientOptions& options, const detect::Verdict& verdict) {
  if (verdict.temperature == detect::Temperature::kWriteHot)
    return "it has too many writes for its reads";
  if (!options.cache_enabled) return "cache.enabled is false";
  if (verdict.temperature != detect::Temperature::kHot) {
    // Copies have answered: they are not denied beside the hit ratio.
    const bool had_one = verdict.count.hits > 0;
    if (options.admission == "hot") return had_one ? "it is hot no more" : "it is not hot";
    return had_one ? "its reads earn none any more" : "its reads have earned none";
  }
  if (verdict.count.key_truncated) return "its name is too long";
  return "it was not loaded since its last change, or there is no room for it";
}

// The part of the accesses that the source did not get, less what it got instead: loads that nobody
// had asked for, and what tracking costs it. Each load counts as one command.
double load_taken_off(const Counts& counts) {
  const auto accesses = static_cast<double>(counts.reads + counts.writes);
  const double spared = static_cast<double>(counts.hits + counts.misses) -
                        static_cast<double>(counts.source_loads + counts.own_commands);
  return accesses > 0 ? spared / accesses : 0;
}

double per_access(std::uint64_t count, const Counts& counts) {
  const std::uint64_t accesses = counts.reads + counts.writes;
  return accesses > 0 ? static_cast<double>(count) / static_cast<double>(accesses) : 0;
}

}  // namespace

// Several processes may have the same options, and only the first gets the port. The others must
// still work, so that is only a warning.
void Core::start_page() {
  if (options_.admin_listen == "off") return;
  const Result<net::HostPort> listen = net::parse_host_port(options_.admin_listen);
  if (!listen.ok()) throw std::invalid_argument("admin.listen: " + listen.error().message);
  auto page = httpd::HttpServer::start({.listen = *listen, .token = token_of(options_)}, routes());
  if (page.ok()) {
    page_ = std::move(page).value();
    log(LogLevel::kInfo, "admin.listen: http://" + page_->address().text());
    return;
  }
  if (page.error().code != ErrorCode::kUnavailable)
    throw std::invalid_argument("admin.listen: " + page.error().message);
  log(LogLevel::kWarning, "admin.listen: the admin page is not available: " + page.error().message);
}

// The paths of the admin API that the library can serve.
std::vector<httpd::Route> Core::routes() {
  const auto ready = [this] {
    const std::string problem = coherence();
    return problem == "up" ? Status(Unit{}) : Error{ErrorCode::kUnavailable, problem};
  };
  const auto hotkeys = [this](const httpd::Question& asked) {
    const report::Report report = page_report();
    return httpd::json_answer(hotkeys_json(report, asked.now.wall_at(report.at)));
  };
  const auto events = [this](const httpd::Question& asked) {
    const std::lock_guard lock(state_mutex_);
    return httpd::json_answer(
        report::events_json({events_.begin(), events_.end()}, asked.now.boot, asked.now.wall));
  };
  return {httpd::health_route(ready),
          httpd::metrics_route([this] { return metrics_text(stats()); }),
          {"/api/hotkeys", "the hot keys of this process with their evidence, as JSON",
           httpd::Pace::kSlow, hotkeys},
          {"/api/events", "keys that became hot or stopped being hot, as JSON", httpd::Pace::kSlow,
           events},
          httpd::version_route()};
}

std::string Core::coherence() const {
  if (!options_.cache_enabled) return "off (cache.enabled is false)";
  if (server_ == nullptr) return "up";
  const std::string problem = server_->problem();
  return problem.empty() ? "up" : problem;
}

report::Report Core::page_report() const {
  const Stats now = stats();
  report::Report report;
  report.at = this->now();
  report.uptime = report.at - started_at_;
  report.window = options_.window;
  report.upstream = source_of(options_);
  report.upstream_up = now.server_problem.empty();
  report.coherence = coherence();
  report.reads_rate = now.reads_per_second;
  report.writes_rate = now.writes_per_second;
  report.requests_rate = report.reads_rate + report.writes_rate;
  report.hit_ratio = now.hit_ratio;
  report.hits_rate = now.reads_per_second * now.hit_ratio;
  report.misses_rate = report.reads_rate - report.hits_rate;
  report.offload = load_taken_off(now.in_window);
  report.commands_rate = report.requests_rate;
  report.server_commands_rate = report.requests_rate * (1 - report.offload);
  report.own_commands_rate =
      per_access(now.in_window.own_commands, now.in_window) * report.requests_rate;
  const std::string hot = detect::hot_qps_words(options_.hot_qps);
  report.hot_means = "in this process at least " + hot;
  report.quiet = "no key reaches " + hot;
  report.cached_entries = now.copies;
  report.cached_bytes = now.copies_bytes;
  report.copies = copies_report();
  const std::lock_guard lock(state_mutex_);
  report.sampled = window_.sampled;
  if (options_.fleet_enabled) {
    report.fleet.emplace();
    report.fleet->name = options_.fleet_name;
    report.fleet->is_known = fleet_.list != nullptr;
    report.fleet->instances = fleet_.instances;
    report.fleet->problem = fleet_.problem;
  }
  const detect::Thresholds threshold = detect::thresholds(rules_.rules().front(), window_);
  report.hot = threshold.hot;
  report.warm = threshold.warm;
  report.absent_max = detect::absent_max(window_, selector_.verdicts());
  report.templates = report::templates_report(window_, 0);
  for (const detect::Verdict& verdict : selector_.verdicts()) add_key(report, verdict, now.level);
  return report;
}

void Core::add_key(report::Report& report, const detect::Verdict& verdict,
                   const std::string& level) const {
  using detect::Temperature;
  if (verdict.temperature == Temperature::kHot) ++report.hot_keys;
  if (verdict.temperature == Temperature::kWriteHot) ++report.write_hot_keys;
  report::KeyReport& key = report.keys.emplace_back();
  key.verdict = verdict;
  key.verdict.reason = selector_.reason_now(verdict);
  key.covered = std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(window_.seconds()));
  key.spared = static_cast<std::int64_t>(verdict.count.hits);
  key.level = options_.cache_enabled ? level : "off";
  if (server_ != nullptr) key.max_staleness = options_.max_staleness;
  const SharedCachedValue copy = kept_.copy(verdict.count.hash);
  key.cached = copy != nullptr;
  if (copy != nullptr) key.reply_bytes = Bytes{copy->bytes};
  if (copy == nullptr) key.cache_note = why_no_copy(options_, verdict);
}

// REQUIRES state_mutex_.
void Core::keep_events(const std::vector<detect::Change>& changes, TimePoint now) {
  if (page_ == nullptr) return;
  for (const detect::Change& change : changes) {
    if (events_.size() == kEventsMax) events_.pop_front();
    events_.push_back(report::event_of(change, now));
    const detect::KeyCount& count = change.verdict.count;
    events_.back().relief = report::relief_of(count, static_cast<std::int64_t>(count.hits));
    events_.back().number = ++last_event_;
  }
}

}  // namespace heatsink::client
