// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "heatsink/base/hash.h"
#include "heatsink/heat/history.h"

namespace heatsink::heat {
namespace {

using std::chrono::seconds;

Moment moment_at(std::int64_t second, double of_a, double unnamed_max = 1) {
  Moment moment;
  moment.at = TimePoint(seconds(second));
  moment.unnamed_max[0] = unnamed_max;
  moment.totals.requests = of_a + 50;
  const auto add = [&moment](Kind kind, const char* name, double rate) {
    Item item{.identity = {.kind = kind, .name = name}, .rate = rate};
    item.writes = rate / 4;
    item.hits = rate / 2;
    moment.items.push_back(item);
  };
  if (of_a > 0) add(Kind::kKey, "a", of_a);
  add(Kind::kKey, "b", 10);
  add(Kind::kTemplate, "t:*", 40);
  return moment;
}

History::Range range_of(std::int64_t from, std::int64_t to) {
  return {.from = TimePoint(seconds(from)), .to = TimePoint(seconds(to))};
}

TEST(Sums, AddUpWhatAKeyHadInEachSecond) {
  History history;
  history.add(moment_at(1001, 1000));
  history.add(moment_at(1002, 3000));
  history.add(moment_at(1003, 0, 7));
  const Sums sums = history.sums(range_of(900, 1100));
  EXPECT_EQ(sums.step, seconds(1));
  EXPECT_EQ(sums.seconds, 3);
  EXPECT_EQ(sums.from, TimePoint(seconds(1000)));
  EXPECT_EQ(sums.to, TimePoint(seconds(1003)));
  EXPECT_EQ(sums.requests, 4150);
  EXPECT_EQ(sums.unnamed, 1 + 1 + 7);
  ASSERT_EQ(sums.keys.size(), 2U) << "a template is no key";
  const KeySum& a = sums.keys[0];
  EXPECT_EQ(a.identity.name, "a");
  EXPECT_NEAR(a.requests, 4000, 4000 * kScaleError);
  EXPECT_NEAR(a.writes, 1000, 1000 * kScaleError);
  EXPECT_NEAR(a.hits, 2000, 2000 * kScaleError);
  EXPECT_NEAR(a.peak, 3000, 3000 * kScaleError);
  EXPECT_NEAR(sums.keys[1].requests, 30, 30 * kScaleError);
}

// What a key has in a second: often less than one request, and sometimes very many.
double rate_at(std::int64_t second, std::uint64_t key) {
  const std::uint64_t hash = hash_name(std::to_string(second), key).value;
  const bool is_slow = key % 2 == 0 && hash % 97 != 0;
  return std::exp2(static_cast<double>(hash % 1024) / 64 - (is_slow ? 16 : 4));
}

TEST(Sums, TheBoundsHoldForSlowKeysAndBurstsInEachTier) {
  constexpr std::int64_t kEnd = 3100;
  constexpr std::uint64_t kAll = 8;
  History history;
  for (std::int64_t second = 0; second <= kEnd; ++second) {
    Moment moment{.at = TimePoint(seconds(second + 1))};
    for (std::uint64_t key = 0; key < kAll; ++key)
      moment.items.push_back({.identity = {.kind = Kind::kKey, .name = std::to_string(key)},
                              .rate = rate_at(second, key)});
    history.add(moment);
  }
  for (const Tier& tier : kTiers) {
    const std::int64_t from = tier.step_s == 1 ? 2600 : 600;
    History::Range range = range_of(from, 2999);
    range.step_s = tier.step_s;
    const Sums sums = history.sums(range);
    // The last column of the coarsest tier ends with second 2999, and is complete.
    ASSERT_EQ(sums.seconds, 3000 - from) << tier.step_s;
    ASSERT_EQ(sums.keys.size(), kAll);
    for (const KeySum& key : sums.keys) {
      double truth = 0;
      for (std::int64_t second = from; second < 3000; ++second)
        truth += rate_at(second, std::stoull(key.identity.name));
      EXPECT_LE(key.low, truth) << key.identity.name << " in steps of " << tier.step_s;
      EXPECT_GE(key.high, truth) << key.identity.name << " in steps of " << tier.step_s;
    }
  }
}

TEST(Sums, OneRequestInTenSecondsIsNotTen) {
  History history;
  for (std::int64_t second = 1001; second <= 1100; ++second) {
    Moment moment{.at = TimePoint(seconds(second))};
    moment.items.push_back({.identity = {.kind = Kind::kKey, .name = "slow"}, .rate = 0.1});
    history.add(moment);
  }
  const Sums sums = history.sums(range_of(900, 1100));
  EXPECT_EQ(sums.keys[0].low, 0);
  EXPECT_NEAR(sums.keys[0].high, 100 * (1 + kScaleError), 1e-6);
}

TEST(Sums, OnlyTheRangeCounts) {
  History history;
  for (std::int64_t second = 1001; second <= 1100; ++second) history.add(moment_at(second, 100));
  EXPECT_EQ(history.sums(range_of(1010, 1019)).seconds, 10);
  const Sums none = history.sums(range_of(2000, 2010));
  EXPECT_EQ(none.seconds, 0);
  EXPECT_EQ(none.from, none.to);
  EXPECT_TRUE(none.keys.empty());
}

TEST(Sums, CoarseColumnsCountTheirSeconds) {
  History history;
  for (std::int64_t second = 10'001; second <= 12'000; ++second)
    history.add(moment_at(second, 100));
  const Sums sums = history.sums(range_of(10'000, 12'000));
  EXPECT_EQ(sums.step, seconds(10));
  EXPECT_EQ(sums.seconds, 1990) << "the last 10 s are not complete yet";
  EXPECT_NEAR(sums.keys[0].requests, 199'000, 199'000 * kScaleError);
}

TEST(Sums, WithoutABoundAKeyMayHaveHadEverything) {
  History history;
  history.add(moment_at(1001, 1000, kNotKnown));
  EXPECT_EQ(history.sums(range_of(900, 1100)).unnamed, 1050);
}

}  // namespace
}  // namespace heatsink::heat
