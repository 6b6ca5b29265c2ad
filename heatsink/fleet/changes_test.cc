// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/changes.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/fleet/fleet_for_test.h"

namespace heatsink::fleet {
namespace {

constexpr std::uint64_t kSlack = 10;

class FleetChanges : public testing::Test {
 protected:
  void report(const CountsForTest& counts, std::uint64_t absent_max = 0) {
    Message message;
    message.windows.push_back(window_for_test(counts, 1000, absent_max));
    changes.reported(message);
  }
  void list(const CountsForTest& counts) {
    Message listed;
    listed.instances = 10;
    listed.windows = {window_for_test(counts, 10'000)};
    changes.listed(listed);
  }
  bool matter(const CountsForTest& counts, std::uint64_t absent_max = 0) const {
    const detect::Summary window = window_for_test(counts, 1000, absent_max);
    return changes.matter({&window, 1});
  }

  Changes changes{[](const detect::Measure&, std::uint64_t) { return detect::CountLevel(kSlack); }};
};

TEST_F(FleetChanges, TheFirstCountsMatter) { EXPECT_TRUE(matter({{"a", 1}})); }

TEST_F(FleetChanges, ANewKeyMattersFromTheSlackOn) {
  report({});
  EXPECT_FALSE(matter({{"a", kSlack - 1}}));
  EXPECT_TRUE(matter({{"a", kSlack}}));
}

TEST_F(FleetChanges, WhatChanceExplainsDoesNotMatter) {
  report({{"a", 400}});
  EXPECT_FALSE(matter({{"a", 400 + 80}}));  // 2.7 standard deviations
  EXPECT_TRUE(matter({{"a", 400 + 100}}));  // 3.3
}

TEST_F(FleetChanges, ALossMattersOfListedKeysOnly) {
  report({{"a", 100}});
  EXPECT_FALSE(matter({}));
  list({{"a", 1000}});
  EXPECT_TRUE(matter({}));
  EXPECT_FALSE(matter({}, 95)) << "an unlisted key may still have 95";
}

TEST_F(FleetChanges, AKeyOfTheListHasAQuarterOfItsMean) {
  report({{"a", 100}, {"b", 100}});
  list({{"a", 4000}});  // 400 in each: 100 are the slack
  EXPECT_FALSE(matter({{"a", 180}, {"b", 100}}));
  EXPECT_TRUE(matter({{"a", 201}, {"b", 100}}));
  EXPECT_TRUE(matter({{"a", 100}, {"b", 180}}));
}

TEST_F(FleetChanges, OnlyTheBusiestKeysAreLookedAt) {
  CountsForTest many;
  for (int i = 0; i < 60; ++i) many.emplace_back("busy:" + std::to_string(i), 500);
  report(many);
  many.emplace_back("idle", 20);
  EXPECT_FALSE(matter(many));
  list({{"idle", 1}});
  EXPECT_TRUE(matter(many));
}

TEST(FleetChangesWithoutRules, TakeTheThresholdsOfAuto) {
  Changes changes({});
  Message message;
  message.windows.push_back(window_for_test({}, 10'000));
  changes.reported(message);
  const detect::Summary below = window_for_test({{"a", 24}}, 10'000);
  const detect::Summary above = window_for_test({{"a", 25}}, 10'000);
  EXPECT_FALSE(changes.matter({&below, 1}));
  EXPECT_TRUE(changes.matter({&above, 1}));
}

}  // namespace
}  // namespace heatsink::fleet
