// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_report.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

namespace heatsink::copies {

report::Report KeeperReport::report(TimePoint now) const {
  report::Report report;
  report.at = now;
  report.uptime = now - started_at_;
  of_.servers.add_to(report);
  report.coherence = of_.servers.coherence();
  add_traffic(report);
  of_.offload.add_to(report, now);
  add_configuration(report);
  report.quiet = of_.events.quiet();
  report.clients = of_.shared.clients.load(std::memory_order_relaxed);
  report.cached_entries = of_.shared.table.copies();
  report.cached_bytes = of_.shared.table.bytes().count;
  report.stale_confirmed = of_.counters.read(Count::kAuditsStale);
  add_keys(report);
  report.fleet = of_.hot_keys.report_on_fleet(now);
  report.copies = of_.admission.report(now);
  return report;
}

void KeeperReport::add_traffic(report::Report& report) const {
  const detect::Summary& node = of_.hot_keys.counts_of_all();
  const double seconds = node.seconds();
  const auto rate = [seconds](std::uint64_t count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  report.requests_rate = rate(node.requests);
  report.reads_rate = rate(node.reads);
  report.writes_rate = rate(node.writes);
  report.hits_rate = rate(node.hits);
  report.misses_rate = rate(node.reads - std::min(node.reads, node.hits));
  report.hit_ratio = ratio(node.hits, node.reads);
  report.sampled = of_.hot_keys.is_sampled();
  report.absent_max = detect::absent_max(node, of_.hot_keys.verdicts());
  if (!of_.shared.shown.redacts()) report.templates = report::templates_report(node, 0);
}

void KeeperReport::add_configuration(report::Report& report) const {
  const policy::ProxyOptions& options = of_.shared.options();
  const detect::Rule& base = of_.shared.rules().rules().front();
  const detect::Thresholds threshold = detect::thresholds(base, of_.hot_keys.counts_of_all());
  report.window = options.window;
  report.dimension = base.measure.dimension;
  report.hot = threshold.hot;
  report.warm = threshold.warm;
  report.rules = options.rules.size();
  report.workers = static_cast<std::uint64_t>(options.workers);
  report.redacted = of_.shared.shown.redacts();
  report.hot_means = policy::hot_definition(options);
}

void KeeperReport::add_keys(report::Report& report) const {
  for (const detect::Verdict& verdict : verdicts(report.at)) {
    report.keys.push_back(report_on(verdict, report.at));
    if (verdict.temperature == detect::Temperature::kHot) ++report.hot_keys;
    if (verdict.temperature == detect::Temperature::kWriteHot) ++report.write_hot_keys;
  }
}

// The judged keys, then the warmed ones that have no verdict of their own.
std::vector<detect::Verdict> KeeperReport::verdicts(TimePoint now) const {
  std::vector<detect::Verdict> out;
  std::unordered_set<std::uint64_t> listed;
  for (const detect::Verdict& by_rate : of_.hot_keys.verdicts()) {
    detect::Verdict verdict = by_rate;
    verdict.reason = of_.hot_keys.reason_now(by_rate);
    if (of_.warming.warmer().holds(by_rate.count.hash))
      verdict = of_.warming.as_warmed(std::move(verdict), now);
    listed.insert(verdict.count.hash.value);
    out.push_back(std::move(verdict));
  }
  for (const KeyHash key : of_.warming.warmer().keys())
    if (!listed.contains(key.value)) out.push_back(of_.warming.verdict_of(key, now));
  return out;
}

std::vector<detect::Verdict> KeeperReport::busy_verdicts(TimePoint now) const {
  std::vector<detect::Verdict> out = verdicts(now);
  std::erase_if(out, [](const detect::Verdict& verdict) {
    return verdict.temperature != detect::Temperature::kHot &&
           verdict.temperature != detect::Temperature::kWriteHot;
  });
  return out;
}

report::KeyReport KeeperReport::report_on(const detect::Verdict& verdict, TimePoint now) const {
  const KeyHash hash = verdict.count.hash;
  report::KeyReport key;
  key.verdict = verdict;
  key.covered = std::chrono::duration_cast<Nanos>(
      std::chrono::duration<double>(of_.hot_keys.counted_seconds(verdict.measure)));
  key.spared = of_.hot_keys.spared(verdict, key.counted_seconds(), now);
  of_.shared.shown.hide(key.verdict.count);
  const PolicySnapshot& policy = of_.shared.current();
  const std::size_t rule = policy.rule_of(verdict.count.key, !verdict.count.key_truncated);
  const cache::ConsistencyPolicy& consistency = policy.consistency[rule];
  key.warmed = of_.warming.warmer().holds(hash);
  if (!policy.gathering_windows.empty()) key.coalesce = policy.gathering_windows[rule];
  key.stale_while_error = consistency.stale_while_error;
  const bool off = !of_.shared.options().cache_enabled || consistency.level == cache::Level::kOff;
  key.level = policy::to_string(off ? cache::Level::kOff : consistency.level);
  if (!off && consistency.level != cache::Level::kTtl)
    key.max_staleness = consistency.max_staleness;
  key.cached = of_.shared.table.has_copy(hash);
  key.reply_bytes = of_.shared.table.reply_size(hash);
  if (const policy::Limits* const limits = of_.shared.limits()) {
    key.limit = of_.limits.limit_on(verdict.count);
    key.limited_rate = limits->limited_rate(hash, now);
  }
  if (!key.cached)
    key.cache_note = why_no_copy(missing_copy(verdict, of_.shared.table.entry(hash), off));
  return key;
}

// The table says whether the key gets copies: keys that are not hot may earn some, too.
MissingCopy KeeperReport::missing_copy(const detect::Verdict& verdict, const cache::Entry* entry,
                                       bool is_off) const {
  MissingCopy out{.enabled = of_.shared.options().cache_enabled,
                  .is_off = is_off,
                  .is_known = entry != nullptr,
                  .temperature = verdict.temperature,
                  .earns = of_.admission.copies_for(verdict.count) == policy::CopiesFor::kWhatPays,
                  .name_cut = verdict.count.key_truncated,
                  .is_worth_holding = of_.admission.is_worth_holding(verdict),
                  .hits = verdict.count.hits};
  if (entry != nullptr) out.mark = cache::to_string(entry->uncacheable());
  if (!of_.shared.proof.up()) out.problem = of_.servers.coherence();
  return out;
}

report::Report KeeperReport::report_of(const std::string& name, std::uint32_t db,
                                       TimePoint now) const {
  const KeyHash hash = in_db(hash_name(name, of_.shared.seed), db);
  report::Report all = report(now);
  const auto is_asked = [&](const report::KeyReport& row) {
    const detect::KeyCount& count = row.verdict.count;
    return count.hash == hash ||
           (of_.shared.shown.redacts() && count.db == db && count.key == name);
  };
  std::vector<report::KeyReport> rows;
  std::copy_if(all.keys.begin(), all.keys.end(), std::back_inserter(rows), is_asked);
  if (rows.empty())
    rows.push_back(report_on(of_.hot_keys.cold_verdict(name, db, started_at_), now));
  rows.resize(1);
  all.keys = std::move(rows);
  return all;
}

std::vector<report::Event> KeeperReport::events_of(const detect::KeyCount& shown) const {
  std::vector<report::Event> all = of_.events.latest();
  std::erase_if(all, [&shown](const report::Event& event) {
    return event.nothing_hot || event.outage || event.config != report::Event::Config::kNone ||
           event.db != shown.db || event.key != shown.key;
  });
  return all;
}

std::optional<std::string> KeeperReport::true_name(const detect::KeyCount& shown,
                                                   const std::string& name) const {
  if (in_db(hash_name(name, of_.shared.seed), shown.db) == shown.hash) return name;
  return of_.hot_keys.name_of(shown.hash);
}

EventLog::Reliefs KeeperReport::reliefs(TimePoint now) const {
  return {.of_key =
              [this, now](const detect::Verdict& verdict) {
                const double seconds = of_.hot_keys.counted_seconds(verdict.measure);
                return report::relief_of(verdict.count, of_.hot_keys.spared(verdict, seconds, now));
              },
          .of_all =
              [this, now] {
                return report::relief_of_all(of_.hot_keys.counts_of_all(),
                                             of_.offload.of_window(now).load.taken_off());
              }};
}

}  // namespace heatsink::copies
