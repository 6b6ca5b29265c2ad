// SPDX-License-Identifier: Apache-2.0
#include "bench/detect_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/race.h"
#include "heatsink/base/hash_inline.h"
#include "heatsink/base/zipf.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/rules.h"
#include "naive_detector.h"

namespace heatsink::bench {
namespace {

using detect::Access;
using detect::Recorder;
using detect::RecorderOptions;
using Steady = std::chrono::steady_clock;

constexpr std::uint64_t kCostSeed = 1;
constexpr std::uint64_t kLossless = UINT64_MAX;
constexpr std::size_t kProcessBytes = 2'500'000;
constexpr std::size_t kTemplateBytes = 100'000;
constexpr TimePoint kStart{std::chrono::seconds(100)};
constexpr std::size_t kBatch = 16;  // accesses per look at the clock, as a worker's turn has them

// An access as a parser leaves it: the name lies in a buffer that is in the cache anyway, so the
// stream is laid out in order and fetched ahead; the memory of a million names is not what is
// measured.
struct Item {
  KeyHash hash;
  char name[24];
  std::string_view key() const { return {name, sizeof(name)}; }
};
using Stream = std::vector<Item>;

Item item_of(std::uint64_t rank) {
  Item item{};
  char text[32];
  std::snprintf(text, sizeof(text), "user:%011llu:profile", static_cast<unsigned long long>(rank));
  std::memcpy(item.name, text, sizeof(item.name));
  item.hash = in_db(hash_name_inline(item.key(), kCostSeed), 0);
  return item;
}

Stream zipf_stream(std::uint64_t keys, std::size_t accesses, std::uint64_t seed) {
  const Zipf zipf(keys, 0.99);
  std::mt19937_64 random(seed);
  Stream stream(accesses);
  for (Item& item : stream) item = item_of(zipf.rank(random));
  return stream;
}

Stream uniform_stream(std::uint64_t keys, std::size_t accesses, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Stream stream(accesses);
  for (Item& item : stream) item = item_of(random() % keys);
  return stream;
}

// One thread's share of a contender: takes a stream, time goes on from where it stood.
using Pass = std::function<void(const Stream&)>;

// Time runs at `per_second` accesses per second of the shard, whatever the machine does.
template <bool kHash>
Pass recorder_pass(const RecorderOptions& options, std::uint64_t per_second) {
  auto recorder = std::make_shared<Recorder>(options);
  auto now = std::make_shared<TimePoint>(kStart);
  const Nanos step(static_cast<std::int64_t>(kBatch * 1'000'000'000 / per_second));
  return [recorder, now, step](const Stream& stream) {
    TimePoint time = *now;
    bool urgent = false;
    std::size_t in_batch = 0;
    for (const Item& item : stream) {
      __builtin_prefetch(&item + kBatch, 0, 0);
      const KeyHash hash = kHash ? in_db(hash_name_inline(item.key(), kCostSeed), 0) : item.hash;
      urgent |= recorder->record(Access{.hash = hash, .key = item.key()}, time);
      if (++in_batch < kBatch) continue;
      in_batch = 0;
      time += step;
    }
    if (urgent) std::abort();  // keeps the result alive; no key is urgent here
    *now = time;
  };
}

Pass naive_pass(const std::shared_ptr<NaiveDetector>& detector) {
  auto now = std::make_shared<TimePoint>(kStart);
  return [detector, now](const Stream& stream) {
    TimePoint time = *now;
    std::uint64_t sum = 0;
    std::size_t in_batch = 0;
    for (const Item& item : stream) {
      __builtin_prefetch(&item + kBatch, 0, 0);
      sum += detector->record(item.key(), time);
      if (++in_batch < kBatch) continue;
      in_batch = 0;
      time += Nanos(kBatch * 1000);
    }
    if (sum == 0) std::abort();
    *now = time;
  };
}

std::string ns(double value) { return fmt::format("{:.1f}", value); }

void add_row(Figures& figures, const Contender& contender) {
  const std::vector<double> cpu = each(contender, &Cost::cpu_ns);
  const std::vector<double> wall = each(contender, &Cost::wall_ns);
  figures.row({contender.name, ns(median(cpu)), ns(*std::min_element(cpu.begin(), cpu.end())),
               ns(median(wall)), ns(*std::min_element(wall.begin(), wall.end()))});
}

RecorderOptions shard_of(std::size_t threads, std::uint64_t lossless_per_second) {
  RecorderOptions options;
  options.memory_bytes = kProcessBytes / threads;
  options.lossless_per_second = lossless_per_second / threads;
  return options;
}

// The proxy: keys that are far from warm displace nobody. Nothing: its default threshold.
RecorderOptions as_proxy(std::size_t threads, std::optional<double> hot_qps) {
  RecorderOptions options = shard_of(threads, kLossless);
  detect::Rule rule;
  detect::set_thresholds(rule, hot_qps, std::nullopt);
  const auto counts = detect::RuleSet(rule).shard_counts(0, 0.25, threads);
  options.worth_tracking = counts.worth_tracking;
  return options;
}

// ---- the tables

constexpr std::uint64_t kFast = 20'000'000;  // per shard and second: what sampling is for

void measure_threads(Figures& figures, std::span<const Stream> streams, int rounds, double ns_max,
                     double ratio_min) {
  const std::size_t threads = streams.size();
  std::deque<Pass> passes;
  const auto contender = [&](const char* name, const auto& make) {
    Contender one{name, {}, streams[0].size()};
    for (const Stream& stream : streams) {
      const Pass& pass = passes.emplace_back(make());
      one.threads.emplace_back([&pass, &stream] { pass(stream); });
    }
    return one;
  };
  const auto detector = std::make_shared<NaiveDetector>();
  const std::uint64_t calm = 1'000'000 / threads;
  const RecorderOptions lossless = shard_of(threads, kLossless);
  RecorderOptions templates = lossless;
  templates.template_bytes = kTemplateBytes / threads;
  const RecorderOptions proxy = as_proxy(threads, std::nullopt);
  const RecorderOptions fixed = as_proxy(threads, 3000);
  const RecorderOptions sampled = shard_of(threads, 1'000'000);
  Contender all[] = {
      contender("lossless, hash included", [&] { return recorder_pass<true>(lossless, calm); }),
      contender("lossless, hash given", [&] { return recorder_pass<false>(lossless, calm); }),
      contender("the same, templates counted",
                [&] { return recorder_pass<false>(templates, calm); }),
      contender("hash included, as the proxy", [&] { return recorder_pass<true>(proxy, calm); }),
      contender("the same, hot-qps 3000", [&] { return recorder_pass<true>(fixed, calm); }),
      contender("sampled, hash included", [&] { return recorder_pass<true>(sampled, kFast); }),
      contender("sampled, hash given", [&] { return recorder_pass<false>(sampled, kFast); }),
      contender("naive: LRU of 10 000, ring, one mutex", [&] { return naive_pass(detector); })};
  race(all, rounds);
  figures.table(fmt::format("Cost of one access in ns, Zipf 0.99 over 10^6 keys, {} thread{}",
                            threads, threads == 1 ? "" : "s"),
                {"of each thread", "CPU", "least", "wall", "least wall"});
  for (const Contender& one : all) add_row(figures, one);
  // Of one thread the wall clock says how busy the machine is; two threads are about more than CPU.
  const double reached = median(each(all[0], threads == 1 ? &Cost::cpu_ns : &Cost::wall_ns));
  const double times = ratio(all[7], all[0], &Cost::wall_ns);
  figures.table(fmt::format("Targets of cost, {} thread{}", threads, threads == 1 ? "" : "s"),
                {"target", "asked", "reached", ""});
  figures.row({threads == 1 ? "lossless, hash included, ns of CPU" : "the same, ns of wall time",
               fmt::format("<= {:g}", ns_max), ns(reached), figures.judged(reached <= ns_max)});
  figures.row({"times as fast as the naive design", fmt::format(">= {:g}", ratio_min), ns(times),
               figures.judged(times >= ratio_min)});
}

void measure_sweep(Figures& figures, const CostOptions& options) {
  figures.table("Cost of one access in ns by the number of distinct keys, 1 thread, hash given",
                {"keys", "Zipf 0.99", "uniform", "Zipf, smp", "unif, smp"});
  for (std::uint64_t keys = 1'000; keys <= 100'000'000; keys *= 10) {
    std::vector<std::string> cells{std::to_string(keys)};
    const Stream streams[] = {zipf_stream(keys, options.accesses, 3),
                              uniform_stream(keys, options.accesses, 3)};
    for (const bool sampled : {false, true}) {
      for (const Stream& stream : streams) {
        const RecorderOptions shard = shard_of(1, sampled ? 1'000'000 : kLossless);
        const Pass pass = recorder_pass<false>(shard, sampled ? kFast : 1'000'000);
        Contender one[] = {{"", {[&] { pass(stream); }}, stream.size()}};
        race(one, std::min(options.rounds, 7));
        cells.push_back(ns(median(each(one[0], &Cost::cpu_ns))));
      }
    }
    figures.row(cells);
  }
}

void measure_summary(Figures& figures, const Stream& stream) {
  Recorder recorder(shard_of(1, kLossless));
  TimePoint now = kStart;
  for (const Item& item : stream) {
    recorder.record(Access{.hash = item.hash, .key = item.key()}, now);
    now += Nanos(1000);
  }
  figures.table(fmt::format("Cost of one summary, {} keys tracked in {} bytes", recorder.keys_max(),
                            recorder.memory_bytes()),
                {"of", "us", "keys"});
  struct Case {
    const char* name;
    std::size_t keys_max;
    std::uint64_t floor;
  };
  for (const Case& each : {Case{"the 2048 busiest", 2048, 0}, Case{"the 1000 busiest", 1000, 0},
                           Case{"keys above 500 accesses", 2048, 500}}) {
    std::vector<double> us;
    std::size_t keys = 0;
    for (int i = 0; i < 51; ++i) {
      // Some traffic in between, as between two ticks, so that there is something to collect.
      for (std::size_t k = 0; k < 20'000; ++k) {
        recorder.record(Access{.hash = stream[k].hash, .key = stream[k].key()}, now);
      }
      const auto begin = Steady::now();
      keys = recorder.summarize(now, each.keys_max, each.floor).keys.size();
      us.push_back(std::chrono::duration<double, std::micro>(Steady::now() - begin).count());
    }
    figures.row({each.name, ns(median(us)), std::to_string(keys)});
  }
}

}  // namespace

void measure_cost(Figures& figures, const CostOptions& options) {
  const std::vector<Stream> streams = {zipf_stream(1'000'000, options.accesses, 1),
                                       zipf_stream(1'000'000, options.accesses, 2)};
  measure_threads(figures, std::span(streams).first(1), options.rounds, 15, 9);
  measure_threads(figures, streams, options.rounds, 20, 30);
  measure_sweep(figures, options);
  measure_summary(figures, streams[0]);
}

}  // namespace heatsink::bench
