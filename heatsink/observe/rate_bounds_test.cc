// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/rate_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "heatsink/observe/monitor_pace.h"

namespace heatsink::observe {
namespace {

TEST(RateBounds, KnowsNothingWithoutAWindow) {
  const RateBounds bounds = rate_bounds({}, 10);
  EXPECT_EQ(bounds.low, 0);
  EXPECT_TRUE(std::isinf(bounds.high));
}

// Garwood at 99 %: for 10 seen, 3.72 .. 21.40 (tables of the exact Poisson interval).
TEST(RateBounds, ChanceIsGarwoods) {
  const std::vector<WindowCount> one{{1, 10, 10}};
  const RateBounds bounds = rate_bounds(one, 100);
  EXPECT_DOUBLE_EQ(bounds.rate, 10);
  EXPECT_NEAR(bounds.low, 3.72, 0.01);
  EXPECT_NEAR(bounds.high, 21.40, 0.01);
}

TEST(RateBounds, WhatWasNotSeenIsBoundedToo) {
  const std::vector<WindowCount> none{{2, 0, 0}};
  const RateBounds bounds = rate_bounds(none, 100);
  EXPECT_EQ(bounds.rate, 0);
  EXPECT_EQ(bounds.low, 0);
  EXPECT_NEAR(bounds.high, 5.298 / 2, 0.001);  // -ln(0.005)
}

TEST(RateBounds, WhatWasSeenHasHappened) {
  const std::vector<WindowCount> bursts{{0.1, 1000, 1000}, {0.1, 0, 0}, {0.1, 0, 0}};
  EXPECT_DOUBLE_EQ(rate_bounds(bursts, 4).low, 250);
}

TEST(RateBounds, UncertainCountsWidenTheUpperBound) {
  const std::vector<WindowCount> sure{{1, 100, 100}}, unsure{{1, 100, 150}};
  EXPECT_GT(rate_bounds(unsure, 10).high, rate_bounds(sure, 10).high);
  EXPECT_DOUBLE_EQ(rate_bounds(unsure, 10).low, rate_bounds(sure, 10).low);
}

// Simulated traffic, watched as the pace would: how often the truth is within the bounds.
class Simulation {
 public:
  // accesses(from, to): how many there are on average in that time.
  using Traffic = std::function<double(double from_s, double to_s)>;

  explicit Simulation(std::uint64_t seed) : random_(seed), pace_({.seed = seed}) {}

  bool contains_truth(const Traffic& traffic, int windows) {
    constexpr double kStepSeconds = 0.001;
    std::vector<WindowCount> seen;
    double all = 0;
    double now_s = 0;
    const auto pass = [&](double for_s, bool on) {
      const double end_s = now_s + for_s;
      double count = 0;
      for (; now_s < end_s; now_s += kStepSeconds) {
        const double mean = traffic(now_s, now_s + kStepSeconds);
        count += mean > 0 ? std::poisson_distribution<int>(mean)(random_) : 0;
      }
      all += count;
      if (on) seen.push_back({for_s, count, count});
    };
    for (int i = 0; i < windows; ++i) {
      pass(std::chrono::duration<double>(pace_.next_on()).count(), true);
      pass(std::chrono::duration<double>(pace_.next_off()).count(), false);
    }
    const RateBounds bounds = rate_bounds(seen, now_s);
    const double truth = all / now_s;
    return bounds.low <= truth && truth <= bounds.high;
  }

 private:
  std::mt19937_64 random_;
  MonitorPace pace_;
};

double coverage(const Simulation::Traffic& traffic, int windows, int runs = 300) {
  int within = 0;
  for (int i = 0; i < runs; ++i) {
    Simulation simulation(static_cast<std::uint64_t>(i) + 1);
    within += simulation.contains_truth(traffic, windows) ? 1 : 0;
  }
  return static_cast<double>(within) / runs;
}

TEST(RateBounds, ContainTheTruthOfSteadyTraffic) {
  for (const double rate : {2.0, 100.0, 20'000.0}) {
    const auto steady = [rate](double from, double to) { return rate * (to - from); };
    EXPECT_GE(coverage(steady, 6), 0.97) << rate;
  }
}

// Seconds of five times the rate, one in four.
TEST(RateBounds, ContainTheTruthOfChangingTraffic) {
  const auto changing = [](double from, double to) {
    return (static_cast<int>(from * 0.7) % 4 == 0 ? 5000.0 : 1000.0) * (to - from);
  };
  EXPECT_GE(coverage(changing, 12), 0.95);
}

// Half a second on, half a second off, as a cron job would: without the jitter, windows every
// half second would all hit the same half.
TEST(RateBounds, ContainTheTruthOfPeriodicTraffic) {
  const auto periodic = [](double from, double to) {
    return std::fmod(from, 1.0) < 0.5 ? 4000 * (to - from) : 0.0;
  };
  EXPECT_GE(coverage(periodic, 12), 0.95);
}

}  // namespace
}  // namespace heatsink::observe
