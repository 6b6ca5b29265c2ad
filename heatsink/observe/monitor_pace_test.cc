// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heatsink::observe {
namespace {

constexpr double kRate = 100'000;  // of a server with nothing to spare

ServerWork saturated(double rate, double for_s) { return {for_s, rate * for_s, for_s}; }

// Past the short cycles.
MonitorPace settled(const MonitorPaceOptions& options = {}) {
  MonitorPace pace(options);
  for (int i = 0; i < MonitorPace::kShortCycles; ++i) (void)pace.next_off();
  return pace;
}

TEST(MonitorPace, BeforeThePriceIsKnownItIsAssumedHigh) {
  const MonitorPace pace = settled();
  EXPECT_FALSE(pace.price());
  const double on_s = std::chrono::duration<double>(pace.next_on()).count();
  EXPECT_NEAR(on_s / 2.0, 0.02 / MonitorPace::kAssumedLoss, 1e-6);
}

TEST(MonitorPace, BeginsWithShortCycles) {
  MonitorPace pace({});
  const Nanos first = pace.next_on();
  EXPECT_LT(pace.next_off(), Millis(750));
  EXPECT_EQ(first * MonitorPace::kShorter / 1000, settled().next_on() / 1000);
}

TEST(MonitorPace, OnASaturatedServerThePriceIsTheThroughputLost) {
  MonitorPace pace = settled();
  pace.learn(saturated(kRate * 0.4, 0.05), saturated(kRate, 1.9));
  ASSERT_TRUE(pace.loss());
  EXPECT_NEAR(*pace.loss(), 0.6, 1e-9);
  EXPECT_NEAR(pace.price()->part, 0.02, 1e-3);
}

TEST(MonitorPace, OnAnIdleServerTheWindowsAreAsLongAsAllowed) {
  MonitorPace pace = settled();
  // 10 000 commands per second at 5 us, 2 us dearer with MONITOR.
  pace.learn({0.1, 1000, 0.007}, {1.9, 19'000, 0.095});
  EXPECT_NEAR(*pace.loss(), 0.02, 1e-9);
  EXPECT_EQ(pace.next_on(), Millis(200));
  EXPECT_LT(pace.price()->part, 0.003);
}

TEST(MonitorPace, NeverPaysMoreThanAllowed) {
  for (const int percent : {5, 20, 40, 60, 80, 90}) {
    MonitorPace pace = settled();
    pace.learn(saturated(kRate * (100 - percent) / 100, 0.1), saturated(kRate, 1));
    ASSERT_TRUE(pace.price()) << percent;
    EXPECT_LE(pace.price()->part, 0.02 + 1e-3) << percent;
  }
}

TEST(MonitorPace, TooLittleWorkTeachesNothing) {
  MonitorPace pace = settled();
  pace.learn({0.2, 100, 0.2}, {1.8, 10'000, 0.1});
  pace.learn({0.001, 1000, 0.2}, {1.8, 10'000, 0.1});
  pace.learn({0.2, 1000, 0.2}, {1.8, 3, 0.1});
  EXPECT_FALSE(pace.loss());
}

TEST(MonitorPace, AWindowThatWasTooLongIsPaidForByALongerPause) {
  MonitorPace planned = settled({.seed = 7}), late = settled({.seed = 7});
  const Nanos usual = planned.next_off(planned.next_on());
  const Nanos longer = late.next_off(late.next_on() * 4);
  EXPECT_NEAR(static_cast<double>(longer.count()) / static_cast<double>(usual.count()), 4, 0.1);
}

TEST(MonitorPace, StrainHalvesTheWindowsForGood) {
  MonitorPace pace = settled();
  const Nanos before = pace.next_on();
  pace.halve();
  EXPECT_NEAR(static_cast<double>(pace.next_on().count()), static_cast<double>(before.count()) / 2,
              10);
  for (int i = 0; i < 100; ++i) pace.halve();
  EXPECT_EQ(pace.next_on(), MonitorPace::kOnMin);
}

TEST(MonitorPace, WaitsForRandomTimesAroundTheirMean) {
  MonitorPace pace = settled({.seed = 7});
  Nanos least = Nanos::max(), most{0}, sum{0};
  constexpr int kCycles = 1000;
  for (int i = 0; i < kCycles; ++i) {
    const Nanos off = pace.next_off();
    least = std::min(least, off);
    most = std::max(most, off);
    sum += off;
  }
  // The rest of a cycle of 2 s; held within a quarter and three times, the mean is 0.98 of it.
  EXPECT_GE(least, Millis(450));
  EXPECT_LE(most, Millis(6000));
  EXPECT_GT(most, Millis(5000));
  EXPECT_GT(sum / kCycles, Millis(1750));
  EXPECT_LT(sum / kCycles, Millis(2100));
}

}  // namespace
}  // namespace heatsink::observe
