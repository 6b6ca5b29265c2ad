// SPDX-License-Identifier: Apache-2.0
// The part of a Core that reports statistics.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/units.h"
#include "heatsink/client/core.h"

namespace heatsink::client {
namespace {

HotKeyInfo info_of(const detect::Verdict& verdict) {
  return {.key = verdict.count.key,
          .temperature = detect::to_string(verdict.temperature),
          .rate_low = verdict.rate_low,
          .rate_high = verdict.rate_high,
          .share = verdict.share,
          .reads = verdict.count.reads,
          .writes = verdict.count.writes,
          .hits = verdict.count.hits,
          .since = verdict.since,
          .reason = verdict.reason};
}

double part(std::uint64_t of, std::uint64_t whole) {
  return static_cast<double>(of) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
}

void add_window(Stats& stats, const detect::Summary& window,
                const std::vector<detect::Verdict>& verdicts) {
  const double seconds = window.window == Nanos(0) ? 1 : window.seconds();
  stats.reads_per_second = static_cast<double>(window.reads) / seconds;
  stats.writes_per_second = static_cast<double>(window.writes) / seconds;
  stats.hit_ratio = part(window.hits, window.reads);
  stats.distinct_keys_per_second = stats.distinct_keys / seconds;
  for (const detect::Verdict& verdict : verdicts)
    if (verdict.temperature == detect::Temperature::kHot)
      stats.hot_share += part(verdict.count.low, window.requests);
}

std::string line_of(const Stats& now, Nanos window) {
  return fmt::format(
      "{:.0f} reads/s, {:.0f} writes/s, {:.0f} distinct keys/s, {:.1f} % of reads served locally; "
      "{} hot keys with {:.1f} % of the traffic; {} copies, {} in all; in the last {}: {} loads "
      "({} failed, {} refused), {} refreshes ({} failed, {} keys given up)",
      now.reads_per_second, now.writes_per_second, now.distinct_keys_per_second,
      now.hit_ratio * 100, now.hot_keys, now.hot_share * 100, now.copies,
      format_bytes(Bytes{now.copies_bytes}), format_duration(window), now.in_window.loads,
      now.in_window.load_failures, now.in_window.refusals, now.in_window.refreshes,
      now.in_window.refresh_failures, now.in_window.refresh_drops);
}

}  // namespace

Counts Core::counts(const AccessShards::Traffic& traffic) const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(); };
  return {.reads = traffic.reads,
          .writes = traffic.writes,
          .hits = traffic.hits,
          .promotions = read(counters_.promotions),
          .demotions = read(counters_.demotions),
          .loads = read(counters_.loads),
          .load_failures = read(counters_.load_failures),
          .waits = read(counters_.waits),
          .misses = read(counters_.misses),
          .source_loads = read(counters_.source_loads),
          .refusals = read(counters_.refusals),
          .refreshes = read(counters_.refreshes),
          .refresh_failures = read(counters_.refresh_failures),
          .refresh_drops = read(counters_.refresh_drops),
          .stale_served = read(counters_.stale_served),
          .no_room = kept_.held().no_room,
          .invalidations = read(counters_.invalidations),
          .flushes = read(counters_.flushes),
          .own_commands = read(counters_.own_commands)};
}

void Core::look_at_counts(TimePoint now) {
  const Counts totals = counts(shards_.traffic(clock_.now()));
  const std::lock_guard lock(state_mutex_);
  counts_.look(totals, now);
}

Stats Core::stats() const {
  Stats stats;
  if (is_in_forked_child_) return stats;
  const AccessShards::Traffic traffic = shards_.traffic(clock_.now());
  static_cast<Counts&>(stats) = counts(traffic);
  stats.distinct_keys = traffic.distinct_keys;
  {
    const std::lock_guard lock(state_mutex_);
    add_window(stats, window_, selector_.verdicts());
    stats.in_window = counts_.within();
  }
  const KeptKeys::Held held = kept_.held();
  stats.hot_keys = held.hot;
  stats.copies = held.copies;
  stats.copies_bytes = held.bytes;
  if (server_ == nullptr) return stats;
  stats.level = "key";
  stats.server_problem = server_->problem();
  return stats;
}

std::vector<HotKeyInfo> Core::top(std::size_t n) const {
  if (is_in_forked_child_) return {};
  const std::lock_guard lock(state_mutex_);
  const auto& verdicts = selector_.verdicts();
  std::vector<HotKeyInfo> keys;
  for (std::size_t i = 0; i < std::min(n, verdicts.size()); ++i) {
    keys.push_back(info_of(verdicts[i]));
    keys.back().reason = selector_.reason_now(verdicts[i]);
  }
  return keys;
}

void Core::on_hot(std::function<void(const HotEvent&)> callback) {
  if (is_in_forked_child_) return;
  const std::lock_guard lock(state_mutex_);
  callbacks_.push_back(std::move(callback));
}

void Core::on_report(std::function<void(const Stats&)> callback) {
  if (is_in_forked_child_) return;
  const std::lock_guard lock(state_mutex_);
  report_callbacks_.push_back(std::move(callback));
}

void Core::report() const {
  std::vector<std::function<void(const Stats&)>> callbacks;
  {
    const std::lock_guard lock(state_mutex_);
    callbacks = report_callbacks_;
  }
  if (!options_.report_enabled && callbacks.empty()) return;
  const Stats now = stats();
  if (options_.report_enabled) log(LogLevel::kInfo, line_of(now, options_.window));
  for (const auto& callback : callbacks) callback(now);
}

}  // namespace heatsink::client
