// SPDX-License-Identifier: Apache-2.0
// The selector with the counts of a fleet beside those of its own instance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SelectorOptions hot_from(double rate) {
  Rule rule;
  rule.hot = rate;
  rule.warm = rate / 4;
  rule.minimum_residence = Nanos(0);
  SelectorOptions options;
  options.rules = RuleSet(rule);
  return options;
}

FleetWindow fleet_of(Nanos at, const std::vector<Traffic>& keys, std::uint64_t instances = 20) {
  return {.counts = window_of(at, keys), .instances = instances, .step = milliseconds(250)};
}

std::vector<Change> update(Selector& selector, const Summary& here, const FleetWindow& fleet) {
  return selector.update({&here, 1}, {&fleet, 1});
}

TEST(SelectorFleet, AKeyThatIsColdHereAndHotInTheSumIsPromoted) {
  Selector selector(hot_from(1000));
  const auto changes = update(selector, window_of(seconds(1), {{"a", 60}}),
                              fleet_of(seconds(1), {{"a", 1200}, {"b", 1100}, {"c", 900}}));
  EXPECT_THAT(told(changes), ElementsAre("+a", "+b"));
  const Verdict& a = selector.verdicts()[0];
  EXPECT_DOUBLE_EQ(a.rate, 60);
  EXPECT_DOUBLE_EQ(a.fleet->rate_low, 1200);
  EXPECT_EQ(a.fleet->instances, 20U);
  EXPECT_EQ(a.count.low, 600U);
  EXPECT_THAT(a.reason, HasSubstr("1200/s >= hot-qps 1000"));
  EXPECT_THAT(a.reason, HasSubstr("counted by 20 instances; here 60/s"));
}

TEST(SelectorFleet, AKeyThatNobodyHasReadHereHasItsNameAndNoCounts) {
  Selector selector(hot_from(1000));
  update(selector, window_of(seconds(1), {}), fleet_of(seconds(1), {{"a", 1200}}));
  ASSERT_EQ(selector.verdicts().size(), 1U);
  EXPECT_EQ(selector.verdicts()[0].count.key, "a");
  EXPECT_EQ(selector.verdicts()[0].count.low, 0U);
  EXPECT_EQ(selector.verdicts()[0].count.reads, 0U);
}

TEST(SelectorFleet, ItCoolsWhenBothHaveCooled) {
  Selector selector(hot_from(1000));
  update(selector, window_of(seconds(1), {{"a", 1500}}), fleet_of(seconds(1), {{"a", 1500}}));
  EXPECT_THAT(told(update(selector, window_of(seconds(2), {{"a", 1500}}),
                          fleet_of(seconds(2), {{"a", 100}}))),
              IsEmpty());
  EXPECT_THAT(told(update(selector, window_of(seconds(3), {{"a", 100}}),
                          fleet_of(seconds(3), {{"a", 1500}}))),
              IsEmpty());
  EXPECT_THAT(told(update(selector, window_of(seconds(4), {{"a", 100}}),
                          fleet_of(seconds(4), {{"a", 100}}))),
              ElementsAre("-a"));
}

TEST(SelectorFleet, WithoutTheFleetOnlyThisInstanceCounts) {
  Selector selector(hot_from(1000));
  update(selector, window_of(seconds(1), {{"a", 60}}), fleet_of(seconds(1), {{"a", 1200}}));
  EXPECT_THAT(told(selector.update(window_of(seconds(2), {{"a", 60}}))), ElementsAre("-a"));
}

TEST(SelectorFleet, AKeyThatTheListHasDroppedIsJudgedByThisInstance) {
  Selector selector(hot_from(1000));
  update(selector, window_of(seconds(1), {{"a", 60}}), fleet_of(seconds(1), {{"a", 1200}}));
  FleetWindow full = fleet_of(seconds(2), {{"other", 5000}});
  full.counts.absent_max = 1'000'000;  // of many instances: it proves nothing
  EXPECT_THAT(told(update(selector, window_of(seconds(2), {{"a", 60}}), full)),
              testing::UnorderedElementsAre("+other", "-a"));
}

// 25 % of a hot window, most of it new within a second.
TEST(SelectorFleet, ABurstInTheSumIsNoticedBetweenTwoLists) {
  Selector selector(hot_from(1000));
  const Summary here = window_of(seconds(10), {});
  update(selector, here, fleet_of(seconds(10), {{"x", 10}}));
  const auto changes = update(selector, window_of(milliseconds(10'500), {}),
                              fleet_of(milliseconds(10'500), {{"x", 10}, {"a", 260}}));
  EXPECT_THAT(told(changes), ElementsAre("+a"));
  EXPECT_THAT(changes.front().verdict.reason, HasSubstr("2600 accesses more within 500 ms"));
}

// The list before is older than the span of a second: the gain must be as fast.
TEST(SelectorFleet, ABurstIsNoticedBetweenListsThatComeSeldom) {
  const auto seen = [](Nanos after, double rate) {
    Selector selector(hot_from(1000));
    update(selector, window_of(seconds(10), {}), fleet_of(seconds(10), {{"x", 10}}));
    return told(update(selector, window_of(seconds(10) + after, {}),
                       fleet_of(seconds(10) + after, {{"x", 10}, {"a", rate}})));
  };
  EXPECT_THAT(seen(milliseconds(1500), 290), ElementsAre("+a"));  // 1933/s in the mean
  EXPECT_THAT(seen(milliseconds(1500), 270), IsEmpty());          // 1800/s
  EXPECT_THAT(seen(milliseconds(2500), 480), ElementsAre("+a"));
  EXPECT_THAT(seen(milliseconds(2600), 900), IsEmpty()) << "too long ago";
}

TEST(SelectorFleet, InstancesThatJoinAreNoBurst) {
  Selector selector(hot_from(1000));
  update(selector, window_of(seconds(10), {}), fleet_of(seconds(10), {{"x", 10}}, 10));
  EXPECT_THAT(told(update(selector, window_of(milliseconds(10'500), {}),
                          fleet_of(milliseconds(10'500), {{"x", 10}, {"a", 260}}, 20))),
              IsEmpty());
}

TEST(SelectorFleet, ASteadyRateBelowTheThresholdIsNoBurst) {
  Selector selector(hot_from(1000));
  for (int i = 0; i < 60; ++i) {
    const Nanos at = seconds(10) + i * milliseconds(250);
    const double seen = std::min(900.0, i * 0.25 * 900 / 10);  // a key that has just begun
    EXPECT_THAT(told(update(selector, window_of(at, {}), fleet_of(at, {{"a", seen}}))), IsEmpty());
  }
}

TEST(SelectorFleet, DividedThresholdsSayOfHowMany) {
  Rule rule;
  set_thresholds(rule, 1000.0, 500.0);
  divide_thresholds(rule, 20);
  EXPECT_DOUBLE_EQ(rule.hot, 50);
  SelectorOptions options;
  options.rules = RuleSet(rule);
  Selector selector(options);
  EXPECT_THAT(told(selector.update(window_of(seconds(1), {{"a", 60}}))), ElementsAre("+a"));
  EXPECT_THAT(selector.verdicts()[0].reason, HasSubstr("60/s >= hot-qps 1000 / 20 instances"));
}

}  // namespace
}  // namespace heatsink::detect
