// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/admin_page.h"

#include <chrono>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "heatsink/admin/pages.h"
#include "heatsink/base/log.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/client/metrics.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/address.h"

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

AdminPage::AdminPage(const ClientOptions& options, const Runtime& runtime, const Parts& parts)
    : options_(options), runtime_(runtime), parts_(parts), started_at_(runtime.now()) {}
AdminPage::~AdminPage() = default;

// Several processes may have the same options, and only the first gets the port. The others must
// still work, so that is only a warning.
void AdminPage::start() {
  if (options_.admin_listen == "off") return;
  const Result<net::HostPort> listen = net::parse_host_port(options_.admin_listen);
  if (!listen.ok()) throw std::invalid_argument("admin.listen: " + listen.error().message);
  heat_ = std::make_unique<heat::History>();
  auto page = httpd::HttpServer::start({.listen = *listen, .token = token_of(options_)}, routes());
  if (page.ok()) {
    server_ = std::move(page).value();
    log(LogLevel::kInfo, "admin.listen: http://" + server_->address().text());
    return;
  }
  if (page.error().code != ErrorCode::kUnavailable)
    throw std::invalid_argument("admin.listen: " + page.error().message);
  heat_.reset();
  log(LogLevel::kWarning, "admin.listen: the admin page is not available: " + page.error().message);
}

void AdminPage::stop() { server_.reset(); }

// The paths of the admin API that the library can serve.
std::vector<httpd::Route> AdminPage::routes() {
  const auto ready = [this] {
    const std::string problem = coherence();
    return problem == "up" ? Status(Unit{}) : Error{ErrorCode::kUnavailable, problem};
  };
  admin::Sources sources;
  sources.ready = ready;
  sources.metrics = [this] { return metrics_text(parts_.statistics.read()); };
  sources.report = [this] { return report(); };
  sources.events = [this] { return events(); };
  sources.recent_heatmap = [this](const heat::History::Range& range) { return heat_->read(range); };
  sources.heatmap = [this](const heat::History::Range& range, httpd::Now /*now*/) {
    return heat_->read(range);
  };
  if (options_.detection_enabled) sources.counts = [this] { return heat_->latest(); };
  return admin::pages_of(std::move(sources));
}

std::vector<report::Event> AdminPage::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

std::string AdminPage::coherence() const {
  if (!options_.cache_enabled) return "off (cache.enabled is false)";
  if (parts_.server == nullptr) return "up";
  const std::string problem = parts_.server->problem();
  return problem.empty() ? "up" : problem;
}

// ---- the report

report::Report AdminPage::report() const {
  const Stats now = parts_.statistics.read();
  report::Report report;
  report.at = runtime_.now();
  report.uptime = report.at - started_at_;
  report.window = options_.window;
  report.upstream = source_of(options_);
  report.upstream_up = now.server_problem.empty();
  report.coherence = coherence();
  add_traffic(report, now);
  const std::string hot = detect::hot_qps_words(options_.hot_qps);
  report.hot_means = "in this process at least " + hot;
  report.quiet = "no key reaches " + hot;
  report.cached_entries = now.copies;
  report.cached_bytes = now.copies_bytes;
  if (parts_.earned != nullptr) report.copies = parts_.earned->report(report.at);
  parts_.hot_keys.read(
      [&](const HotKeys::Known& known) { add_hot_keys(report, known, now.level); });
  return report;
}

void AdminPage::add_traffic(report::Report& report, const Stats& now) const {
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
}

void AdminPage::add_hot_keys(report::Report& report, const HotKeys::Known& known,
                             const std::string& level) const {
  report.sampled = known.window.sampled;
  if (options_.fleet_enabled) {
    report.fleet.emplace();
    report.fleet->name = options_.fleet_name;
    report.fleet->is_known = known.fleet.list != nullptr;
    report.fleet->instances = known.fleet.instances;
    report.fleet->problem = known.fleet.problem;
  }
  const detect::Thresholds threshold =
      detect::thresholds(known.rules.rules().front(), known.window);
  report.hot = threshold.hot;
  report.warm = threshold.warm;
  report.absent_max = detect::absent_max(known.window, known.selector.verdicts());
  report.templates = report::templates_report(known.window, 0);
  for (const detect::Verdict& verdict : known.selector.verdicts())
    add_key(report, known, verdict, level);
}

void AdminPage::add_key(report::Report& report, const HotKeys::Known& known,
                        const detect::Verdict& verdict, const std::string& level) const {
  using detect::Temperature;
  if (verdict.temperature == Temperature::kHot) ++report.hot_keys;
  if (verdict.temperature == Temperature::kWriteHot) ++report.write_hot_keys;
  report::KeyReport& key = report.keys.emplace_back();
  key.verdict = verdict;
  key.verdict.reason = known.selector.reason_now(verdict);
  key.covered =
      std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(known.window.seconds()));
  key.spared = static_cast<std::int64_t>(verdict.count.hits);
  key.level = options_.cache_enabled ? level : "off";
  if (parts_.server != nullptr) key.max_staleness = options_.max_staleness;
  const SharedCachedValue copy = parts_.kept.copy(verdict.count.hash);
  key.cached = copy != nullptr;
  if (copy != nullptr) key.reply_bytes = Bytes{copy->bytes};
  if (copy == nullptr) key.cache_note = why_no_copy(options_, verdict);
}

// ---- the past

void AdminPage::add_heat(const detect::Summary& counted) {
  if (heat_ == nullptr) return;
  const auto second = std::chrono::floor<std::chrono::seconds>(counted.at);
  if (second <= heat_at_) return;
  heat_at_ = second;
  const auto as_it_is = [](std::string_view name) { return std::string(name); };
  heat::Moment moment = heat::moment_of(counted, as_it_is, false);
  moment.totals.bytes = heat::kNotKnown;  // a copy is an object of the application
  heat_->add(moment);
}

void AdminPage::add_events(std::span<const detect::Change> changes, TimePoint now) {
  if (server_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (const detect::Change& change : changes) {
    if (events_.size() == kEventsMax) events_.pop_front();
    events_.push_back(report::event_of(change, now));
    const detect::KeyCount& count = change.verdict.count;
    events_.back().relief = report::relief_of(count, static_cast<std::int64_t>(count.hits));
    events_.back().number = ++last_event_;
  }
}

}  // namespace heatsink::client
