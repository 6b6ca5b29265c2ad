// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/collector.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/merge.h"
#include "heatsink/fleet/fleet_for_test.h"

namespace heatsink::fleet {
namespace {

Message report_of(const CountsForTest& counts, std::uint64_t absent_max = 0) {
  Message message;
  message.windows.push_back(window_for_test(counts, 1000, absent_max));
  return message;
}

TEST(FleetCollector, AddsUpWhatManyInstancesCounted) {
  Collector collector;
  constexpr int kInstances = 300;  // several batches
  for (int i = 0; i < kInstances; ++i)
    collector.add(report_of({{"sale", 3}, {"only:" + std::to_string(i), 50}}));
  const Message sum = collector.finish(10);
  EXPECT_EQ(sum.instances, 300U);
  ASSERT_EQ(sum.windows.size(), 1U);
  EXPECT_EQ(sum.windows[0].requests, 300'000U);
  EXPECT_EQ(sum.windows[0].keys.size(), 10U);
  EXPECT_EQ(sum.windows[0].keys[0].key, "sale");
  EXPECT_EQ(sum.windows[0].keys[0].low, 900U);
  EXPECT_EQ(sum.windows[0].keys[0].high, 900U);
}

TEST(FleetCollector, AnInstanceThatDoesNotListAKeyWidensItsBound) {
  Collector collector;
  collector.add(report_of({{"sale", 30}}));
  collector.add(report_of({{"other", 40}}, 7));
  const Message sum = collector.finish(10);
  EXPECT_EQ(find_for_test(sum.windows[0], "sale")->low, 30U);
  EXPECT_EQ(find_for_test(sum.windows[0], "sale")->high, 37U);
}

TEST(FleetCollector, KeepsMeasuresApartAndBeginsAnew) {
  Collector collector;
  Message both = report_of({{"a", 1}});
  both.windows.push_back(window_for_test({{"a", 5}}, 10));
  both.windows[1].window = both.windows[1].covered = std::chrono::seconds(1);
  collector.add(both);
  EXPECT_EQ(collector.finish(10).windows.size(), 2U);
  EXPECT_EQ(collector.finish(10).instances, 0U);
}

detect::Summary random_window(std::mt19937_64& random, std::size_t names) {
  detect::Summary window = window_for_test({}, 1'000'000, random() % 20);
  for (std::size_t i = 0; i < names; ++i) {
    if (random() % 3 == 0) continue;
    const std::uint64_t low = random() % 100;
    window.keys.push_back(key_for_test("k" + std::to_string(i), low, low + random() % 10));
  }
  return window;
}

TEST(FleetWindowSum, IsTheJoinWhileNothingIsCut) {
  std::mt19937_64 random(1);
  std::vector<detect::Summary> windows;
  WindowSum sum;
  for (int i = 0; i < 50; ++i) {
    windows.push_back(random_window(random, 200));
    sum.add(windows.back());
  }
  EXPECT_EQ(sum.finish(200), detect::join(windows));
}

TEST(FleetWindowSum, ProvenCountsDecideWhatStays) {
  WindowSum sum;
  detect::Summary window = window_for_test({{"proven", 100}}, 1000);
  window.keys.insert(window.keys.begin(), key_for_test("perhaps", 1, 900));
  sum.add(window);
  const detect::Summary kept = sum.finish(1);
  ASSERT_EQ(kept.keys.size(), 1U);
  EXPECT_EQ(kept.keys[0].key, "proven");
  EXPECT_EQ(kept.keys[0].high, 100U);
  EXPECT_EQ(kept.absent_max, 900U);
}

// The truth of each key lies within its bounds, whatever was cut on the way.
TEST(FleetWindowSum, WhatIsCutWidensTheBoundsAndKeepsThemTrue) {
  constexpr std::uint64_t kWindows = 40, kOwnKeys = 300;
  WindowSum sum;
  for (std::uint64_t i = 0; i < kWindows; ++i) {
    CountsForTest counts{{"sale", 7}, {"late", i < 20 ? 0U : 9U}};
    for (std::uint64_t k = 0; k < kOwnKeys; ++k)
      counts.emplace_back("own:" + std::to_string(i) + ":" + std::to_string(k), 50);
    sum.add(window_for_test(counts, 100'000));
  }
  const detect::Summary kept = sum.finish(WindowSum::kKeysKept);
  EXPECT_EQ(kept.keys.size(), WindowSum::kKeysKept);
  EXPECT_GE(kept.absent_max, 50U);
  EXPECT_EQ(kept.requests, kWindows * 100'000);
  for (const auto& [name, truth] : CountsForTest{{"sale", 7 * kWindows}, {"late", 9 * 20}}) {
    const detect::KeyCount* const key = find_for_test(kept, name);
    ASSERT_NE(key, nullptr) << name;
    EXPECT_LE(key->low, truth);
    EXPECT_GE(key->high, truth);
  }
}

TEST(FleetWindowSum, AKeyWithoutItsWholeNameIsNotListed) {
  WindowSum sum;
  detect::Summary window = window_for_test({{"short", 3}, {"long", 80}}, 1000, 2);
  window.keys[0].key_truncated = true;
  sum.add(window);
  const detect::Summary kept = sum.finish(10);
  ASSERT_EQ(kept.keys.size(), 1U);
  EXPECT_EQ(kept.keys[0].key, "short");
  EXPECT_EQ(kept.absent_max, 80U);
}

}  // namespace

}  // namespace heatsink::fleet
