// SPDX-License-Identifier: Apache-2.0
// Claim: judging 4096 keys takes less than a millisecond, and next to nothing when nothing is hot;
// it is done ten times a second and whenever a key bursts.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "heatsink/detect/rules.h"
#include "heatsink/detect/selector.h"

namespace heatsink::detect {
namespace {

constexpr std::size_t kKeys = 4096;
constexpr TimePoint kStart{std::chrono::seconds(1000)};

Summary window_of(std::size_t keys, std::uint64_t count_each, std::size_t tallies) {
  Summary summary;
  summary.window = summary.covered = std::chrono::seconds(10);
  summary.covers_window = true;
  for (std::size_t i = 0; i < keys; ++i) {
    KeyCount count;
    count.key = "user:session:" + std::to_string(i) + ":profile";
    count.hash = in_db(hash_name(count.key, 1), 0);
    count.low = count.high = count.reads = count_each + keys - i;
    if (i < 100) {  // the busiest
      count.commands.assign(tallies, {"GET", 1, 2});
      count.clients.assign(tallies, {"10.20.30.40:56789", 1, 2});
    }
    summary.requests += count.low;
    summary.keys.push_back(std::move(count));
  }
  return summary;
}

// One update of many, in steady traffic.
void steady(benchmark::State& state, std::size_t keys, std::uint64_t count_each) {
  Selector selector({.top_n = 0});
  Summary window = window_of(keys, count_each, kTalliesMax);
  window.at = kStart;
  selector.update(window);
  for ([[maybe_unused]] auto _ : state) {
    window.at += std::chrono::milliseconds(100);
    benchmark::DoNotOptimize(selector.update(window));
  }
}

void nothing_listed(benchmark::State& state) { steady(state, 0, 0); }
void all_cold(benchmark::State& state) { steady(state, kKeys, 10); }
void all_warm(benchmark::State& state) { steady(state, kKeys, 10'000); }
void all_hot(benchmark::State& state) { steady(state, kKeys, 40'000); }

// The dearest: 4096 keys are cold in one window and hot in the next.
void all_change(benchmark::State& state) {
  Rule rule;
  rule.minimum_residence = Nanos(0);
  Selector selector({.rules = RuleSet(rule), .top_n = 0});
  Summary windows[] = {window_of(kKeys, 10, 0), window_of(kKeys, 40'000, kTalliesMax)};
  TimePoint at = kStart;
  std::size_t turn = 0;
  for ([[maybe_unused]] auto _ : state) {
    Summary& window = windows[++turn % 2];
    window.at = at += std::chrono::milliseconds(100);
    benchmark::DoNotOptimize(selector.update(window));
  }
}

// 10^5 keys at the threshold, of which each window lists others, against 1000 places.
void flood(benchmark::State& state) {
  Selector selector({});
  std::vector<Summary> windows;
  const Summary all = window_of(100'000, 30'000, 0);
  for (std::size_t begin = 0; begin + kKeys <= all.keys.size(); begin += kKeys) {
    windows.push_back(all);
    const auto first = all.keys.begin() + static_cast<std::ptrdiff_t>(begin);
    windows.back().keys.assign(first, first + static_cast<std::ptrdiff_t>(kKeys));
  }
  TimePoint at = kStart;
  std::size_t turn = 0;
  for ([[maybe_unused]] auto _ : state) {
    Summary& window = windows[++turn % windows.size()];
    window.at = at += std::chrono::milliseconds(100);
    benchmark::DoNotOptimize(selector.update(window));
  }
}

RuleSet thousand_rules(const char* glob) {
  std::vector<Rule> rules(kRulesMax);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string number = std::to_string(i);
    rules[i].match = i % 3 == 0   ? "user:" + number
                     : i % 3 == 1 ? "user:" + number + ":*"
                                  : number + glob;
  }
  return RuleSet::make(Rule{}, std::move(rules)).value();
}

// The rule of a key among a thousand; globs that begin with a literal are refused by it.
void find_rule(benchmark::State& state, const char* glob) {
  const RuleSet rules = thousand_rules(glob);
  const std::vector<KeyCount> keys = window_of(1000, 1, 0).keys;
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(&rules.of(keys[++i % keys.size()].key));
}
void rule_of_a_key(benchmark::State& state) { find_rule(state, ":?:*x"); }

BENCHMARK(nothing_listed);
BENCHMARK(all_cold)->Unit(benchmark::kMicrosecond);
BENCHMARK(all_warm)->Unit(benchmark::kMicrosecond);
BENCHMARK(all_hot)->Unit(benchmark::kMicrosecond);
BENCHMARK(all_change)->Unit(benchmark::kMicrosecond);
BENCHMARK(flood)->Unit(benchmark::kMicrosecond);
BENCHMARK(rule_of_a_key);

}  // namespace
}  // namespace heatsink::detect
