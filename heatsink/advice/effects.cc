// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/effects.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

namespace heatsink::advice {
namespace {

constexpr Bytes kCopyOverhead{330};  // an entry in the hot table, its key and the reply's framing

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

double holders(const KeyTraffic& key) { return std::max<std::uint32_t>(key.holders, 1); }

// The effect when `requests` fewer requests for the key reach the server per second, and the server
// then works `time` for it.
Effect effect(const KeyTraffic& key, const ServerCosts& costs, double time, double requests) {
  const double before = server_time(key, costs);
  return {.key_removed = before > 0 ? 1 - time / before : 0,
          .node_removed = key.node_rate > 0 ? std::min(requests / key.node_rate, 1.0) : 0,
          .memory = {}};
}

Bytes size_of_copy(const KeyTraffic& key) {
  return Bytes{key.value.value_or(Bytes{0}).count + kCopyOverhead.count};
}

// Per second, for all holders together.
double fills(const KeyTraffic& key, double ends) {
  const double reads = key.reads_rate / holders(key);
  if (reads <= 0 || ends <= 0) return 0;
  return holders(key) / (1 / ends + 1 / reads);
}

// Copies with `filled` fills and `ends` ends per second. The server sends a push for each copy that
// a write ends.
Effect kept_copies(const KeyTraffic& key, double filled, double ends, const ServerCosts& costs) {
  const double pushed = filled * key.writes_rate / ends;
  const double time =
      filled * costs.fill_us + pushed * costs.push_us + key.writes_rate * costs.write_us;
  Effect result = effect(key, costs, time, key.reads_rate - filled);
  result.memory = size_of_copy(key);
  return result;
}

}  // namespace

double server_time(const KeyTraffic& key, const ServerCosts& costs) {
  return key.reads_rate * costs.read_us + key.writes_rate * costs.write_us;
}

Effect coherent_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs) {
  assert(lifetime > Nanos(0));
  const double ends = key.writes_rate + 1 / seconds(lifetime);
  return kept_copies(key, fills(key, ends), ends, costs);
}

Effect aging_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs) {
  assert(lifetime > Nanos(0));
  const double filled = fills(key, 1 / seconds(lifetime));
  const double time = filled * costs.read_us + key.writes_rate * costs.write_us;
  Effect result = effect(key, costs, time, key.reads_rate - filled);
  result.memory = size_of_copy(key);
  return result;
}

Effect split(const KeyTraffic& key, std::uint32_t copies, const ServerCosts& costs) {
  assert(copies >= 1);
  const double reads = key.reads_rate / copies;
  const double time = reads * costs.read_us + key.writes_rate * costs.write_us;
  Effect result = effect(key, costs, time, key.reads_rate - reads);
  result.memory = key.value.value_or(Bytes{0});
  return result;
}

Effect replica_reads(const KeyTraffic& key, std::uint32_t replicas, const ServerCosts& costs) {
  const double reads = key.reads_rate / (1.0 + replicas);
  const double time = reads * costs.read_us + key.writes_rate * costs.write_us;
  return effect(key, costs, time, key.reads_rate - reads);
}

double gathered_rate(double writes, Nanos window, std::uint32_t workers) {
  assert(window > Nanos(0) && workers >= 1);
  if (writes <= 0) return 0;
  const double each = writes / workers;
  return workers / (seconds(window) + std::exp(-each * seconds(window)) / each);
}

Effect gathered_writes(const KeyTraffic& key, Nanos window, const ServerCosts& costs) {
  const double gathered = key.writes_rate * key.use.gatherable.value_or(1);
  const double spared = gathered - gathered_rate(gathered, window, key.workers);
  const double time = server_time(key, costs) - spared * costs.write_us;
  return effect(key, costs, time, spared);
}

Effect unproven_reads(const KeyTraffic& key, double rate, Nanos lifetime,
                      const ServerCosts& costs) {
  assert(rate >= key.writes_rate);
  const double ends = key.writes_rate + 1 / seconds(lifetime);
  return kept_copies(key, std::min(fills(key, ends), rate - key.writes_rate), ends, costs);
}

KeyTraffic left_by(const KeyTraffic& key) {
  KeyTraffic left = key;
  left.reads_rate *= 1 - std::clamp(key.in_force.hit_ratio, 0.0, 1.0);
  if (key.in_force.coalesce > Nanos(0)) {
    const double gathered = key.writes_rate * key.use.gatherable.value_or(1);
    left.writes_rate -= gathered - gathered_rate(gathered, key.in_force.coalesce, key.workers);
  }
  return left;
}

Effect limit(const KeyTraffic& key, double rate, const ServerCosts& costs) {
  const double all = key.reads_rate + key.writes_rate;
  const double passed = all > 0 ? std::clamp(rate / all, 0.0, 1.0) : 1;
  return effect(key, costs, passed * server_time(key, costs), (1 - passed) * all);
}

}  // namespace heatsink::advice
