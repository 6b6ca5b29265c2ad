// SPDX-License-Identifier: Apache-2.0
#include "bench/detect_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "heatsink/base/zipf.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/selector.h"

namespace heatsink::bench {
namespace {

using detect::Access;
using detect::Change;
using detect::Recorder;
using detect::RecorderOptions;
using detect::Selector;
using detect::Summary;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kWindowS = 10;
constexpr double kHot = 3000;               // per second, the default
constexpr double kBackground = 5000;        // accesses per second of other keys, none of them hot
constexpr Nanos kTick = milliseconds(100);  // proxy.tick
constexpr std::size_t kShardKeys = 2048;    // as the proxy's workers tell
constexpr std::size_t kMergedKeys = 4096;
constexpr std::uint64_t kLatencySeed = 7;

Nanos from_s(double s) { return Nanos(std::llround(s * 1e9)); }

// The proxy's workers and keeper as far as they detect: each worker tells its summary at each tick
// of its own and when a key is urgent, the keeper judges at each tick of its own and when told so.
class Proxy {
 public:
  Proxy(std::size_t shards, std::mt19937_64& random) : random_(random), selector_(options_) {
    RecorderOptions recorder;
    recorder.memory_bytes /= shards;
    recorder.urgent_count = static_cast<std::uint64_t>(
        std::max(1.0, options_.burst * kHot * kWindowS / static_cast<double>(shards)));
    for (std::size_t i = 0; i < shards; ++i) recorders_.emplace_back(recorder);
    summaries_.resize(shards);
    for (std::size_t i = 0; i <= shards; ++i) next_tick_.push_back(kStart + any_of(kTick));
  }

  TimePoint start() const { return kStart; }

  // The ticks of the shards and (the last) of the keeper that are due by `now`.
  void run_ticks(TimePoint now) {
    for (;;) {
      const auto first = std::min_element(next_tick_.begin(), next_tick_.end());
      if (*first > now) return;
      const TimePoint at = *first;
      *first += kTick;
      const auto who = static_cast<std::size_t>(first - next_tick_.begin());
      who < recorders_.size() ? tell(who, at) : judge();
    }
  }

  void access(std::string_view key, TimePoint now) {
    const std::size_t shard = random_() % recorders_.size();
    if (!recorders_[shard].record({in_db(hash_name(key, kLatencySeed), 0), key}, now)) return;
    tell(shard, now);
    judge();
  }

  bool announced() const { return announced_; }
  Nanos longest_hand_over() const { return longest_hand_over_; }

 private:
  static constexpr TimePoint kStart{seconds(1000)};

  Nanos any_of(Nanos length) {
    return Nanos(static_cast<Nanos::rep>(random_() % static_cast<std::uint64_t>(length.count())));
  }

  void tell(std::size_t shard, TimePoint now) {
    began_ = BootClock::now();
    recorders_[shard].drain(now);
    const std::uint64_t floor = options_.rules.floor(0, options_.burst).least;
    summaries_[shard] = recorders_[shard].summarize(
        now, kShardKeys, std::max<std::uint64_t>(floor / recorders_.size(), 1));
  }

  void judge() {
    for (const Change& change : selector_.update(detect::merge(summaries_, kMergedKeys))) {
      announced_ |= change.kind == Change::Kind::kPromote && change.verdict.count.key == "hot";
    }
    longest_hand_over_ = std::max(longest_hand_over_, BootClock::now() - began_);
  }

  std::mt19937_64& random_;
  detect::SelectorOptions options_;
  Selector selector_;
  std::vector<Recorder> recorders_;
  std::vector<Summary> summaries_;
  std::vector<TimePoint> next_tick_;  // of the shards, then of the keeper
  bool announced_ = false;
  TimePoint began_ = BootClock::now();
  Nanos longest_hand_over_{};
};

struct Trial {
  std::optional<double> announced_s;  // since the jump
  double hand_over_s = 0;             // real time, the longest
};

// Other traffic for one to two windows, then the key jumps from nothing to `factor` x hot.
Trial run_trial(double factor, std::size_t shards, const Zipf& zipf, std::mt19937_64& random) {
  Proxy proxy(shards, random);
  std::exponential_distribution<double> gap(kBackground);
  const double jump_s = kWindowS * (1.1 + static_cast<double>(random() >> 11) * 0x1p-53);
  double background_s = gap(random), hot_s = jump_s;
  while (!proxy.announced() && hot_s < jump_s + 2 * kWindowS) {
    const bool is_hot = hot_s <= background_s;
    const TimePoint now = proxy.start() + from_s(is_hot ? hot_s : background_s);
    proxy.run_ticks(now);
    if (proxy.announced())
      return {std::chrono::duration<double>(now - proxy.start()).count() - jump_s};
    proxy.access(is_hot ? "hot" : "key:" + std::to_string(zipf.rank(random)), now);
    if (proxy.announced()) {
      return {hot_s - jump_s, std::chrono::duration<double>(proxy.longest_hand_over()).count()};
    }
    (is_hot ? hot_s : background_s) += is_hot ? 1 / (factor * kHot) : gap(random);
  }
  return {};
}

double percentile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

// 1.2 x the shortest time in which the window can hold enough, plus 10 ms; of 100 x: 50 ms.
double limit_s(double factor) { return factor >= 100 ? 0.05 : 1.2 * kWindowS / factor + 0.01; }

}  // namespace

void measure_latency(Figures& figures, bool quick) {
  figures.table("Time to detect, in ms: a key jumps from nothing to a multiple of the threshold",
                {"rate / threshold", "shards", "trials", "shortest", "p50", "p99", "longest",
                 "limit", "target"});
  const Zipf zipf(100'000, 0.8);  // the busiest: about 1 % of 5000/s
  std::mt19937_64 random(1);
  double hand_over_s = 0;
  const int trials = quick ? 20 : 100;
  for (const double factor : {1.2, 2.0, 5.0, 10.0, 100.0}) {
    for (const std::size_t shards : {std::size_t{1}, std::size_t{2}}) {
      std::vector<double> times;
      for (int i = 0; i < trials; ++i) {
        const Trial trial = run_trial(factor, shards, zipf, random);
        times.push_back(trial.announced_s.value_or(2 * kWindowS));
        hand_over_s = std::max(hand_over_s, trial.hand_over_s);
      }
      std::sort(times.begin(), times.end());
      const auto ms = [](double s) { return fmt::format("{:.1f}", s * 1e3); };
      figures.row({fmt::format("{:g} x", factor), fmt::format("{}", shards),
                   fmt::format("{}", trials), ms(kWindowS / factor), ms(percentile(times, 0.5)),
                   ms(percentile(times, 0.99)), ms(times.back()), ms(limit_s(factor)),
                   figures.judged(percentile(times, 0.99) <= limit_s(factor))});
    }
  }
  figures.note(fmt::format("besides: telling and judging took at most {:.1f} ms of real time",
                           hand_over_s * 1e3));
}

}  // namespace heatsink::bench
