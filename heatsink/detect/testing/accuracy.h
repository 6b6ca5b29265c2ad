// SPDX-License-Identifier: Apache-2.0
// Measures a recorder's accuracy: feeds it and a brute-force window the same accesses, and
// compares.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/detect/recorder.h"
#include "heatsink/detect/selector.h"
#include "heatsink/detect/testing/window_model.h"
#include "heatsink/detect/testing/workloads.h"

namespace heatsink::detect::testing {

inline constexpr double kHotShare = 0.0005;  // of the window's accesses: what "hot" means here

// Sums over all comparisons.
struct Accuracy {
  std::uint64_t accesses = 0, looks = 0;
  std::uint64_t right_100 = 0, asked_100 = 0;    // of the busiest named, how many are (ties count)
  std::uint64_t right_1000 = 0, asked_1000 = 0;  // asked: as many as the window has keys, at most
  std::uint64_t hot = 0, hot_named = 0, hot_right = 0;  // there; named; both
  double rate_error = 0;  // per look: mean of |rate - truth| / truth over the 100 busiest
  std::uint64_t keys_judged = 0, bounds_violated = 0;
  std::uint64_t distinct_max = 0;  // in a window
  std::uint64_t verdicts = 0;      // how often the selector said that a key has another temperature
  std::size_t memory_bytes = 0;

  static double part(std::uint64_t n, std::uint64_t of) {
    return of == 0 ? 1 : static_cast<double>(n) / static_cast<double>(of);
  }
  double p100() const { return part(right_100, asked_100); }
  double p1000() const { return part(right_1000, asked_1000); }
  double recall() const { return part(hot_right, hot); }
  double precision() const { return part(hot_right, hot_named); }
  double mean_rate_error() const { return rate_error / static_cast<double>(looks); }
};

// Compares each quarter of a window, from the first whole one on. At each hundredth of a window a
// selector with the threshold kHotShare runs. Not thread-safe.
class AccuracyRun {
 public:
  AccuracyRun(double rate, const RecorderOptions& options)
      : recorder_(options),
        selector_(selector_options(rate)),
        model_(options.window, options.slots),
        window_(options.window),
        gap_(1e9 / rate) {
    accuracy_.memory_bytes = recorder_.memory_bytes();
  }

  void access(std::string_view key) {
    const Access access{in_db(hash_name(key, kSeed), 0), key};
    const TimePoint now = kStart + elapsed();
    recorder_.record(access, now);
    model_.record(access, now);
    ++accuracy_.accesses;
    if (elapsed() >= next_verdict_) {
      next_verdict_ += window_ / 100;
      accuracy_.verdicts += selector_.update(recorder_.summarize(now, kKeys)).size();
    }
    if (elapsed() >= next_look_) {
      next_look_ += window_ / 4;
      look(now);
    }
  }

  double elapsed_s() const { return std::chrono::duration<double>(elapsed()).count(); }
  const Accuracy& accuracy() const { return accuracy_; }

 private:
  static constexpr std::uint64_t kSeed = 7;
  static constexpr std::size_t kKeys = 4096;
  static constexpr TimePoint kStart{std::chrono::seconds(100)};

  static SelectorOptions selector_options(double rate) {
    Rule rule;
    rule.hot = rule.warm = rate * kHotShare;
    SelectorOptions options;
    options.rules = RuleSet(rule);
    return options;
  }

  Nanos elapsed() const {
    return Nanos(std::llround(static_cast<double>(accuracy_.accesses) * gap_));
  }

  void look(TimePoint now) {
    recorder_.drain(now);
    Summary summary = recorder_.summarize(now, kKeys);
    model_.advance(now);
    ++accuracy_.looks;
    accuracy_.distinct_max = std::max<std::uint64_t>(accuracy_.distinct_max, model_.keys().size());
    check_bounds(summary);
    std::stable_sort(summary.keys.begin(), summary.keys.end(),
                     [](const KeyCount& a, const KeyCount& b) { return a.likely() > b.likely(); });
    compare_top(summary, 100, accuracy_.right_100, accuracy_.asked_100);
    compare_top(summary, 1000, accuracy_.right_1000, accuracy_.asked_1000);
    compare_hot(summary);
    compare_rates(summary);
  }

  std::uint64_t truth(KeyHash hash) const { return model_.of(hash).accesses(); }

  void check_bounds(const Summary& summary) {
    std::unordered_map<std::uint64_t, const KeyCount*> listed;
    for (const KeyCount& key : summary.keys) listed.emplace(key.hash.value, &key);
    for (const auto& [hash, count] : model_.keys()) {
      const auto found = listed.find(hash);
      const bool holds = found == listed.end() ? count.accesses() <= summary.absent_max
                                               : found->second->low <= count.accesses() &&
                                                     found->second->high >= count.accesses();
      accuracy_.bounds_violated += holds ? 0U : 1U;
    }
    accuracy_.keys_judged += model_.keys().size();
    accuracy_.bounds_violated += summary.requests == model_.total().accesses() ? 0U : 1U;
  }

  void compare_top(const Summary& summary, std::size_t n, std::uint64_t& right,
                   std::uint64_t& asked) const {
    n = std::min(n, model_.keys().size());
    const std::uint64_t nth = model_.nth(n);
    for (std::size_t i = 0; i < std::min(n, summary.keys.size()); ++i) {
      right += truth(summary.keys[i].hash) >= nth ? 1U : 0U;
    }
    asked += n;
  }

  void compare_hot(const Summary& summary) {
    const double hot = static_cast<double>(summary.requests) * kHotShare;
    for (const KeyCount& key : summary.keys) {
      if (static_cast<double>(key.low) < hot) continue;
      ++accuracy_.hot_named;
      accuracy_.hot_right += static_cast<double>(truth(key.hash)) >= hot ? 1U : 0U;
    }
    for (const auto& [hash, count] : model_.keys()) {
      accuracy_.hot += static_cast<double>(count.accesses()) >= hot ? 1U : 0U;
    }
  }

  // An unlisted key has an error of 1.
  void compare_rates(const Summary& summary) {
    std::unordered_map<std::uint64_t, std::uint64_t> lows;
    for (const KeyCount& key : summary.keys) lows.emplace(key.hash.value, key.low);
    const std::uint64_t hundredth = model_.nth(std::min<std::size_t>(100, model_.keys().size()));
    double sum = 0, keys = 0;
    for (const auto& [hash, count] : model_.keys()) {
      if (count.accesses() < hundredth) continue;
      const auto exact = static_cast<double>(count.accesses());
      const auto found = lows.find(hash);
      const double told = found == lows.end() ? 0 : static_cast<double>(found->second);
      sum += std::abs(told - exact) / exact;
      keys += 1;
    }
    accuracy_.rate_error += keys == 0 ? 0 : sum / keys;
  }

  Recorder recorder_;
  Selector selector_;
  WindowModel model_;
  Nanos window_;
  double gap_;  // ns
  Nanos next_look_ = window_;
  Nanos next_verdict_{0};
  Accuracy accuracy_;
};

inline Accuracy accuracy_of(const Workload& workload, const RecorderOptions& options = {}) {
  AccuracyRun run(workload.rate, options);
  char name[32] = "key:";
  for (std::uint64_t left = workload.accesses(); left > 0; --left) {
    const std::uint64_t number = workload.key(run.elapsed_s());
    const char* const end = std::to_chars(name + 4, std::end(name), number).ptr;
    run.access({name, static_cast<std::size_t>(end - name)});
  }
  return run.accuracy();
}

}  // namespace heatsink::detect::testing
