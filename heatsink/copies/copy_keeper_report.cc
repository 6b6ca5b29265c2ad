// SPDX-License-Identifier: Apache-2.0
// The keeper's report for people, behind /api/hotkeys and heatsink top, and counts for /metrics.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

void add_copies_of(const cache::Entry& entry, report::CopiesReport::Copy& out) {
  entry.for_each_copy([&](const cache::Copy& copy) {
    std::string command = upper_name(local_reads()[copy.read.command()]);
    if (std::find(out.commands.begin(), out.commands.end(), command) == out.commands.end())
      out.commands.push_back(std::move(command));
  });
  out.bytes = Bytes{entry.bytes()};
}

}  // namespace

void CopyKeeper::record_to(Recording recording) {
  shared_.heat.listen(std::move(recording.moment));
  events_.listen(std::move(recording.event));
}

report::Report CopyKeeper::report() {
  auto answer = std::make_shared<std::promise<report::Report>>();
  std::future<report::Report> future = answer->get_future();
  static_cast<void>(loop_.try_post([this, answer] { answer->set_value(make_report()); }));
  if (future.wait_for(std::chrono::seconds(1)) == std::future_status::ready) return future.get();
  report::Report report;
  report.is_answered = false;
  report.coherence = report.upstream_problem = "the proxy's keeper thread does not answer";
  return report;
}

// The table counts by itself, because it knows no metrics.
void CopyKeeper::count_departures() {
  const auto raise = [this](Count count, std::uint64_t to) {
    counters_.add(count, to - counters_.read(count));
  };
  raise(Count::kWrittenEarly, shared_.table.left_early());
  raise(Count::kEvictedForEntries, shared_.table.evictions(cache::EvictionReason::kEntries).count);
  raise(Count::kEvictedForBytes, shared_.table.evictions(cache::EvictionReason::kBytes).count);
}

void CopyKeeper::add_upstream(report::Report& report) const {
  const bool in_cluster = cluster_.has_begun();
  report.upstream = in_cluster ? shared_.upstream.where() : shared_.upstream_address.where();
  const std::string withheld = shared_.upstream_address.withheld();
  report.upstream_up = in_cluster ? nodes_.trackers().is_any_reachable()
                                  : withheld.empty() && (tracker_connection_.problem().empty() ||
                                                         tracker_connection_.is_refused());
  if (!report.upstream_up) {
    report.upstream_problem = in_cluster         ? cluster_problem()
                              : withheld.empty() ? tracker_connection_.problem()
                                                 : withheld;
  }
}

report::Report CopyKeeper::make_report() {
  const detect::Summary& node = merged_.front();
  const double seconds = node.seconds();
  const auto rate = [seconds](std::uint64_t count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const detect::Rule& base = shared_.rules().rules().front();
  report::Report report;
  report.at = loop_.clock();
  report.window = shared_.options().window;
  report.uptime = report.at - started_at_;
  add_upstream(report);
  report.coherence = coherence();
  report.requests_rate = rate(node.requests);
  report.reads_rate = rate(node.reads);
  report.writes_rate = rate(node.writes);
  report.hits_rate = rate(node.hits);
  report.misses_rate = rate(node.reads - std::min(node.reads, node.hits));
  report.hit_ratio = ratio(node.hits, node.reads);
  add_load(report);
  report.dimension = base.measure.dimension;
  const detect::Thresholds threshold = detect::thresholds(base, node);
  report.hot = threshold.hot;
  report.warm = threshold.warm;
  report.rules = shared_.options().rules.size();
  report.workers = static_cast<std::uint64_t>(shared_.options().workers);
  report.redacted = shared_.shown.redacts();
  report.hot_means = policy::hot_definition(shared_.options());
  report.quiet = events_.quiet();
  report.sampled = std::any_of(merged_.begin(), merged_.end(),
                               [](const detect::Summary& merged) { return merged.sampled; });
  report.absent_max = detect::absent_max(node, selector_.verdicts());
  if (!report.redacted) report.templates = report::templates_report(node, 0);
  report.clients = shared_.clients.load(std::memory_order_relaxed);
  report.cached_entries = shared_.table.copies();
  report.cached_bytes = shared_.table.bytes().count;
  report.stale_confirmed = counters_.read(Count::kAuditsStale);
  for (const detect::Verdict& by_rate : selector_.verdicts()) {
    const bool is_warmed = warmer_.holds(by_rate.count.hash);
    detect::Verdict verdict = by_rate;
    verdict.reason = selector_.reason_now(by_rate);
    if (is_warmed) verdict = as_warmed(std::move(verdict), report.at);
    report.keys.push_back(report_on(verdict));
    if (verdict.temperature == detect::Temperature::kHot) ++report.hot_keys;
    if (verdict.temperature == detect::Temperature::kWriteHot) ++report.write_hot_keys;
  }
  add_warmed(report);
  report.fleet = report_on_fleet();
  report.copies = report_on_copies();
  return report;
}

// The workers' counts are not known here.
std::optional<report::CopiesReport> CopyKeeper::report_on_copies() const {
  if (!chooser_) return std::nullopt;
  report::CopiesReport copies;
  const admit::CostedChooser& chooser = chooser_->chooser();
  const admit::Choice& choice = chooser.choice();
  if (choice.reads != admit::Choice::kNever)
    copies.choice = {.reads = choice.reads,
                     .history = chooser.history(),
                     .order = choice.order == admit::EvictionOrder::kSieve ? "sieve" : "clock"};
  copies.saved = chooser.saved();
  const admit::Costs costs = chooser.costs();
  copies.fill_cost = costs.fill;
  copies.fill_cost_spread = chooser_->fill_cost_spread();
  copies.invalidation_cost = costs.end;
  copies.read_cpu = chooser_->spared_cpu();
  copies.proxy_read_cpu = chooser_->spared_proxy_cpu();
  copies.proxy_fill_cpu = chooser_->keeper_cpu();
  const CopyChooser::Measured measured = chooser_->measured();
  copies.prices = {.server = measured.server,
                   .keeper = measured.keeper,
                   .worker = measured.worker,
                   .fill_wait = measured.wait};
  copies.refused = {.written = shared_.table.left_early(),
                    .too_big = counters_.read(Count::kTooBig),
                    .no_room = counters_.read(Count::kNoRoom)};
  copies.entries_max = chooser.copies();
  copies.bytes_max = shared_.options().maximum_bytes;
  for (const admit::CopyCurve::Point& point : chooser.curve())
    copies.curve.push_back({point.copies, point.saved});
  copies.top = best_copies();
  return copies;
}

// Most of these keys are not among the hot and warm ones.
std::vector<report::CopiesReport::Copy> CopyKeeper::best_copies() const {
  const auto is_kept = [this](KeyHash key) { return shared_.table.entry(key) != nullptr; };
  std::vector<report::CopiesReport::Copy> copies;
  for (const admit::CopySaving& saving :
       savings_.top(report::CopiesReport::kTopMax, chooser_->costs(), loop_.clock(), is_kept)) {
    const cache::Entry& entry = *shared_.table.entry(saving.key);
    report::CopiesReport::Copy& copy = copies.emplace_back();
    copy.name = shared_.shown.show(entry.key());
    copy.name_truncated = copy.name.size() > detect::kKeyBytesMax;
    if (copy.name_truncated) copy.name.resize(detect::kKeyBytesMax);
    copy.db = entry.db();
    copy.hits = saving.hits;
    copy.hits_error = saving.hits_error;
    copy.fills = saving.fills;
    copy.invalidations = saving.ends;
    copy.saved = saving.saved;
    add_copies_of(entry, copy);
  }
  return copies;
}

// How long the counts of this measure cover. The window moves in slots: nothing is left of the
// oldest one, and the latest one has only begun.
double CopyKeeper::counted_seconds(const detect::Measure& measure) const {
  const auto counts = std::find_if(
      merged_.begin(), merged_.end(),
      [&measure](const detect::Summary& merged) { return merged.measure() == measure; });
  return counts == merged_.end() ? 0 : counts->seconds();
}

// Both parts move in steps of their own, so they are brought to the same time: both cover a window
// less a tenth at most. One that covers less has only begun, and there was nothing before.
std::int64_t CopyKeeper::spared_of(const detect::KeyCount& count, double counted_seconds) const {
  constexpr double kTenthMore = 10.0 / 9;
  const Nanos covered = shared_.key_loads.covered(loop_.clock());
  const double to_same_time =
      covered > Nanos(0)
          ? std::min(counted_seconds / std::chrono::duration<double>(covered).count(), kTenthMore)
          : 0;
  const double beside_hits = static_cast<double>(shared_.key_loads.of(count.hash)) * to_same_time;
  return static_cast<std::int64_t>(count.hits) + std::llround(beside_hits);
}

report::KeyReport CopyKeeper::report_on(const detect::Verdict& verdict) const {
  report::KeyReport key;
  key.verdict = verdict;
  key.covered = std::chrono::duration_cast<Nanos>(
      std::chrono::duration<double>(counted_seconds(verdict.measure)));
  key.spared = spared_of(verdict.count, key.counted_seconds());
  shared_.shown.hide(key.verdict.count);
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(verdict.count.key, !verdict.count.key_truncated);
  const cache::ConsistencyPolicy& consistency = policy.consistency[rule];
  key.warmed = warmer_.holds(verdict.count.hash);
  if (!policy.coalescing_windows.empty()) key.coalesce = policy.coalescing_windows[rule];
  key.stale_while_error = consistency.stale_while_error;
  const bool off = !shared_.options().cache_enabled || consistency.level == cache::Level::kOff;
  key.level = policy::to_string(off ? cache::Level::kOff : consistency.level);
  if (!off && consistency.level != cache::Level::kTtl)
    key.max_staleness = consistency.max_staleness;
  const cache::Entry* entry = shared_.table.entry(verdict.count.hash);
  key.cached = shared_.table.has_copy(verdict.count.hash);
  key.reply_bytes = shared_.table.reply_size(verdict.count.hash);
  if (shared_.limits()) {
    key.limit = limit_on(verdict.count);
    key.limited_rate = shared_.limits()->limited_rate(verdict.count.hash, loop_.now());
  }
  if (!key.cached) key.cache_note = why_no_copy(missing_copy(verdict, entry, off));
  return key;
}

// The table says whether the key gets copies: keys that are not hot may earn some, too.
MissingCopy CopyKeeper::missing_copy(const detect::Verdict& verdict, const cache::Entry* entry,
                                     bool is_off) const {
  MissingCopy out{.enabled = shared_.options().cache_enabled,
                  .is_off = is_off,
                  .is_known = entry != nullptr,
                  .temperature = verdict.temperature,
                  .earns = copies_for(verdict.count) == policy::CopiesFor::kWhatPays,
                  .name_cut = verdict.count.key_truncated,
                  .is_worth_holding = is_worth_holding(verdict),
                  .hits = verdict.count.hits};
  if (entry != nullptr) out.mark = cache::to_string(entry->uncacheable());
  if (!shared_.proof.up()) out.problem = coherence();
  return out;
}

// "": a tracker of a node is connected.
std::string CopyKeeper::cluster_problem() const {
  const std::string rights = rights_.why_no_copies();
  if (shared_.cluster.map() == nullptr)
    return cluster_.lacks_a_right() && !rights.empty() ? rights : cluster_.problem();
  const std::string problem = nodes_.trackers().problem();
  return problem.empty() || rights.empty() ? problem : problem + "; " + rights;
}

std::string CopyKeeper::coherence() const {
  if (!shared_.options().cache_enabled) return "off (cache.enabled is false)";
  if (cluster_.has_begun()) {
    const std::string problem = cluster_problem();
    return problem.empty() ? filler_.state() : problem;
  }
  if (shared_.upstream_address.is_withheld()) return shared_.upstream_address.withheld();
  const bool is_confirmed =
      shared_.proof.confirmed_at() >= loop_.clock() - shared_.options().max_staleness;
  if (tracker_connection_.problem().empty() && filler_.state() == "up" && !is_confirmed)
    return master_.problem().empty() ? "waiting for a majority of the Sentinels to name this master"
                                     : master_.problem();
  if (tracker_connection_.problem().empty()) return filler_.state();
  const std::string rights = tracker_connection_.lacks_a_right() ? rights_.why_no_copies() : "";
  return tracker_connection_.problem() + (rights.empty() ? "" : "; " + rights);
}

}  // namespace heatsink::copies
