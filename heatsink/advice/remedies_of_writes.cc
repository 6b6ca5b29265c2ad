// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/remedies_of_writes.h"

#include <fmt/format.h>

#include <algorithm>

namespace heatsink::advice {
namespace {

// In the library: a process with leases asks about twice in lease_lasts (200 ms), one with window
// statistics flushes every statistics.flush-interval (100 ms).
constexpr double kAsksPerProcess = 10;

// The remaining load when each process asks at this rate, at any rate of its own callers.
Remedy by_process(const Case& of, ReliefKind relief, const std::string& price, Lines lines) {
  const auto processes = static_cast<double>(std::max<std::size_t>(of.key.use.clients, 1));
  const Effect effect = limit(of.left, kAsksPerProcess * processes, of.options.costs);
  return remedy(relief, effect, price, std::move(lines));
}

}  // namespace

Remedy consider_gathering(const Case& of) {
  const InForce& now = of.key.in_force;
  if (now.coalesce > Nanos(0)) {
    const Effect effect = gathered_writes(of.key, now.coalesce, of.options.costs);
    return {.relief = ReliefKind::kGatheredWrites,
            .effect = effect,
            .done = true,
            .text = fmt::format("the proxy gathers its writes for {}, which {}",
                                format_duration(now.coalesce), taken_off(effect))};
  }
  if (of.key.writes_rate <= 0) return no_use(ReliefKind::kGatheredWrites, "the key is not written");
  if (of.key.use.gatherable && *of.key.use.gatherable <= 0)
    return no_use(ReliefKind::kGatheredWrites, "its writes are not SET, INCR, DECR or similar");
  const Nanos window = of.options.coalesce;
  const double gathered = of.key.writes_rate * of.key.use.gatherable.value_or(1);
  return remedy(
      ReliefKind::kGatheredWrites, gathered_writes(of.left, window, of.options.costs),
      fmt::format("{:.0f} of {:.0f} writes a second reach the server, each up to {} later{}",
                  of.key.writes_rate - gathered + gathered_rate(gathered, window, of.key.workers),
                  of.key.writes_rate, format_duration(window),
                  of.key.use.gatherable ? "" : ", if they are SET, INCR or DECR"),
      rule_lines(of.place, {"coalesce: " + format_duration(window)}));
}

Remedy consider_leases(const Case& of) {
  if (!of.key.use.is_limit_state)
    return no_use(ReliefKind::kLeases, "the key is not the state of a limit across processes");
  return by_process(
      of, ReliefKind::kLeases,
      "each process takes its part of the limit in advance, and can lose at most one lease",
      {"options.lease_share = 0.02;  // heatsink::RateLimiterOptions"});
}

Remedy consider_window_statistics(const Case& of) {
  if (!of.key.use.is_sample_log)
    return no_use(ReliefKind::kWindowStatistics,
                  "the key is not a log of samples (ZADD and ZREMRANGEBYSCORE, LPUSH and LTRIM)");
  const auto name = of.place.name ? quoted(*of.place.name) : std::nullopt;
  Lines lines{fmt::format("stats = heatsink.WindowStats(server_url=\"{}\")", server_url(of.place))};
  if (name) lines.push_back(fmt::format("stats.add({}, sample)", *name));
  return by_process(of, ReliefKind::kWindowStatistics,
                    "each process sums its samples; p99 within 1.6 %; needs code",
                    std::move(lines));
}

}  // namespace heatsink::advice
