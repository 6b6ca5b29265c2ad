// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "heatsink/base/log.h"
#include "heatsink/base/units.h"

namespace heatsink::client {
namespace {

double part(std::uint64_t of, std::uint64_t whole) {
  return static_cast<double>(of) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
}

void add_window(Stats& stats, const HotKeys::Known& known) {
  const detect::Summary& window = known.window;
  const double length_s = window.window == Nanos(0) ? 1 : window.seconds();
  stats.reads_per_second = static_cast<double>(window.reads) / length_s;
  stats.writes_per_second = static_cast<double>(window.writes) / length_s;
  stats.hit_ratio = part(window.hits, window.reads);
  stats.distinct_keys_per_second = stats.distinct_keys / length_s;
  for (const detect::Verdict& verdict : known.selector.verdicts())
    if (verdict.temperature == detect::Temperature::kHot)
      stats.hot_share += part(verdict.count.low, window.requests);
}

std::string line_of(const Stats& now, Nanos window) {
  return fmt::format(
      "{:.0f} reads/s, {:.0f} writes/s, {:.0f} distinct keys/s, {:.1f} % of reads served locally; "
      "{} hot keys with {:.1f} % of the traffic; {} copies, {} in all; in the last {}: "
      "{} loads ({} failed, {} refused), {} refreshes ({} failed, {} keys given up)",
      now.reads_per_second, now.writes_per_second, now.distinct_keys_per_second,
      now.hit_ratio * 100, now.hot_keys, now.hot_share * 100, now.copies,
      format_bytes(Bytes{now.copies_bytes}), format_duration(window), now.in_window.loads,
      now.in_window.load_failures, now.in_window.refusals, now.in_window.refreshes,
      now.in_window.refresh_failures, now.in_window.refresh_drops);
}

}  // namespace

Counts Statistics::counts(const AccessShards::Traffic& traffic) const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(); };
  const Counters& counters = parts_.counters;
  return {.reads = traffic.reads,
          .writes = traffic.writes,
          .hits = traffic.hits,
          .promotions = read(counters.promotions),
          .demotions = read(counters.demotions),
          .loads = read(counters.loads),
          .load_failures = read(counters.load_failures),
          .waits = read(counters.waits),
          .misses = read(counters.misses),
          .source_loads = read(counters.source_loads),
          .refusals = read(counters.refusals),
          .refreshes = read(counters.refreshes),
          .refresh_failures = read(counters.refresh_failures),
          .refresh_drops = read(counters.refresh_drops),
          .stale_served = read(counters.stale_served),
          .no_room = parts_.kept.held().no_room,
          .invalidations = read(counters.invalidations),
          .flushes = read(counters.flushes),
          .own_commands = read(counters.own_commands)};
}

void Statistics::look(TimePoint now) {
  const Counts totals = counts(parts_.shards.traffic(parts_.clock.now()));
  const std::lock_guard lock(mutex_);
  window_.look(totals, now);
}

Stats Statistics::read() const {
  Stats stats;
  const AccessShards::Traffic traffic = parts_.shards.traffic(parts_.clock.now());
  static_cast<Counts&>(stats) = counts(traffic);
  stats.distinct_keys = traffic.distinct_keys;
  parts_.hot_keys.read([&](const HotKeys::Known& known) { add_window(stats, known); });
  {
    const std::lock_guard lock(mutex_);
    stats.in_window = window_.within();
  }
  const KeptKeys::Held held = parts_.kept.held();
  stats.hot_keys = held.hot;
  stats.copies = held.copies;
  stats.copies_bytes = held.bytes;
  if (parts_.server == nullptr) return stats;
  stats.level = "key";
  stats.server_problem = parts_.server->problem();
  return stats;
}

void Statistics::report() const {
  const auto callbacks = listeners_.all();
  if (!options_.report_enabled && callbacks.empty()) return;
  const Stats now = read();
  if (options_.report_enabled) log(LogLevel::kInfo, line_of(now, options_.window));
  for (const auto& callback : callbacks) callback(now);
}

}  // namespace heatsink::client
