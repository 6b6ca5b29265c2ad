// SPDX-License-Identifier: Apache-2.0
// Several rules and measures, shares, and how often changes are made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Rule rule(std::string match, double hot, double warm, Measure measure = {}) {
  Rule made;
  made.match = std::move(match);
  made.hot = hot;
  made.warm = warm;
  made.measure = measure;
  return made;
}

SelectorOptions with(std::vector<Rule> rules) {
  return {.rules = RuleSet::make(Rule{}, std::move(rules)).value()};
}

TEST(SelectorRules, EachKeyByItsOwnThreshold) {
  Selector selector(with({rule("product:*", 100, 50), rule("product:1", 1000, 500)}));
  const auto changes = selector.update(
      window_of(seconds(0), {{"product:1", 999}, {"product:2", 100}, {"other", 2000}}));
  EXPECT_THAT(told(changes), ElementsAre("+product:2"));
  EXPECT_EQ(verdict_of(selector, "product:2").rule, "product:*");
  EXPECT_EQ(verdict_of(selector, "product:2").reason,
            "100/s >= hot-qps 100 (3.2 % of traffic), rule product:*");
  EXPECT_EQ(temperature_of(selector, "product:1"), Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "other").rule, "");
  // How far each is above its own threshold makes the order.
  EXPECT_DOUBLE_EQ(verdict_of(selector, "product:1").heat, 0.999);
  EXPECT_EQ(selector.verdicts().front().count.key, "product:2");
}

TEST(SelectorRules, MeasuresAreJudgedOnTheirOwnSummaries) {
  const Measure bytes{seconds(1), Dimension::kBytes};
  const Measure misses{seconds(10), Dimension::kMisses};
  Selector selector(with({rule("big:*", 10 << 20, 1 << 20, bytes), rule("m:*", 50, 5, misses)}));
  const Summary summaries[] = {
      window_of(seconds(1), {{"big:1", 9000}, {"m:1", 9000}, {"r", 9000}}),
      window_of(seconds(1), bytes, {{"big:1", 20 << 20}, {"big:2", 2 << 20}, {"r", 100 << 20}}),
      window_of(seconds(1), misses, {{"m:1", 499}, {"m:2", 700}, {"r", 9000}}),
  };
  EXPECT_THAT(told(selector.update(summaries)), ElementsAre("+r", "+big:1", "+m:2"));
  EXPECT_EQ(temperature_of(selector, "m:1"), Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "big:1").measure, bytes);
  EXPECT_EQ(verdict_of(selector, "big:1").reason,
            "20.0 MiB/s >= hot 10.0 MiB/s (16.4 % of bytes), rule big:*");
  EXPECT_EQ(verdict_of(selector, "m:2").reason,
            "70 misses/s >= hot 50 (6.9 % of misses), rule m:*");
  EXPECT_EQ(verdict_of(selector, "big:2").reason,
            "2.0 MiB/s >= warm 1.0 MiB/s (1.6 % of bytes), rule big:*");
  // A key that its own measure no longer lists is cold, whatever the others say.
  const Summary later[] = {
      window_of(seconds(12), {{"big:1", 9000}, {"m:1", 9000}, {"r", 9000}}),
      window_of(seconds(12), bytes, {{"r", 100 << 20}}),
      window_of(seconds(12), misses, {{"r", 9000}}),
  };
  EXPECT_THAT(noticed(selector.update(later)),
              testing::UnorderedElementsAre("big:1 hot > cold", "big:2 warm > cold",
                                            "m:1 warm > cold", "m:2 hot > cold"));
}

TEST(SelectorRules, WritesMakeAKeyWriteHot) {
  const Measure writes{seconds(10), Dimension::kWrites};
  Selector selector(with({rule("w:*", 100, 10, writes)}));
  const Summary summaries[] = {window_of(seconds(1), {}),
                               window_of(seconds(1), writes, {{"w:1", 2000}})};
  EXPECT_THAT(noticed(selector.update(summaries)), ElementsAre("w:1 cold > write-hot"));
  EXPECT_EQ(verdict_of(selector, "w:1").reason,
            "200 writes/s >= hot 100, but 0.0 reads per write < 10: writes would drop a local copy "
            "too often, rule w:*");
}

TEST(SelectorRules, AShareOfTheTraffic) {
  Rule base;
  base.hot_share = 0.1;
  Selector selector({.rules = RuleSet(base)});
  // The share is enough for a, but b is below warm-qps.
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 600}, {"b", 499}, {"c", 2901}}))),
              ElementsAre("+c", "+a"));
  EXPECT_EQ(verdict_of(selector, "a").reason, "15.0 % of traffic >= hot-share 10.0 %, at 600/s");
  EXPECT_EQ(temperature_of(selector, "b"), Temperature::kCold);
  // Hysteresis in share as in rate.
  EXPECT_THAT(told(selector.update(window_of(seconds(11), {{"a", 600}, {"x", 6890}}))),
              ElementsAre("-c", "+x"));
  EXPECT_THAT(told(selector.update(window_of(seconds(12), {{"a", 600}, {"x", 6910}}))),
              ElementsAre("-a"));
}

TEST(SelectorRules, MoreOfALongNameMayNameAnotherRule) {
  Selector selector(with({rule("user:*", 100, 50), rule("user:1", 10, 5)}));
  Summary summary = window_of(seconds(0), {{"user:", 60}});
  summary.keys[0].key_truncated = true;
  selector.update(summary);
  EXPECT_EQ(selector.verdicts().front().rule, "user:*");
  summary.keys[0].key = "user:1";
  summary.keys[0].key_truncated = false;
  summary.at += seconds(1);
  EXPECT_THAT(told(selector.update(summary)), ElementsAre("+user:1"));
  EXPECT_EQ(selector.verdicts().front().rule, "user:1");
}

TEST(SelectorRules, RatesAreByTheTimeCovered) {
  Selector selector({});
  Summary summary = window_of(seconds(0), {{"a", 2700}});
  summary.covered = seconds(9);                            // the current slot has only just begun
  EXPECT_THAT(told(selector.update(summary)), IsEmpty());  // it may have begun 9 s ago
  summary.covers_window = true;
  EXPECT_THAT(told(selector.update(summary)), ElementsAre("+a"));
  EXPECT_DOUBLE_EQ(selector.verdicts().front().rate, 3000);
}

TEST(SelectorRules, EveryChangeOfTemperatureIsNoticed) {
  Selector selector({});
  EXPECT_THAT(noticed(selector.update(window_of(seconds(0), {{"a", 600}, {"w", 3000, 3000}}))),
              ElementsAre("w cold > write-hot", "a cold > warm"));
  EXPECT_THAT(selector.update(window_of(seconds(1), {{"a", 700}, {"w", 3000, 3001}})), IsEmpty());
  const auto changes = selector.update(window_of(seconds(10), {{"a", 300}, {"w", 1000, 1000}}));
  EXPECT_THAT(noticed(changes), ElementsAre("a warm > cold", "w write-hot > warm"));
  EXPECT_EQ(changes[0].verdict.reason, "at most 300/s < warm-qps 500");
}

TEST(SelectorRules, PromotionsWaitForTheirInterval) {
  Selector selector({.promotion_interval = seconds(5)});
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 4000}}))), ElementsAre("+a"));
  EXPECT_THAT(told(selector.update(window_of(seconds(1), {{"a", 4000}, {"b", 4000}}))), IsEmpty());
  EXPECT_EQ(verdict_of(selector, "b").temperature, Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "b").reason,
            "4000/s >= hot-qps 3000, but waiting for the end of the promotion-interval");
  EXPECT_THAT(told(selector.update(window_of(seconds(5), {{"a", 4000}, {"b", 5000}, {"c", 4000}}))),
              ElementsAre("+b", "+c"));
}

TEST(SelectorRules, DemotionsWaitForTheirIntervalUnlessForWrites) {
  Rule base;
  base.minimum_residence = Nanos(0);
  Selector selector({.rules = RuleSet(base), .demotion_interval = seconds(5)});
  selector.update(window_of(seconds(0), {{"a", 4000}, {"b", 4000}, {"c", 4000}, {"d", 4000}}));
  EXPECT_THAT(told(selector.update(window_of(seconds(1), {{"b", 4000}, {"c", 4000}, {"d", 4000}}))),
              ElementsAre("-a"));
  EXPECT_THAT(told(selector.update(window_of(seconds(3), {{"d", 100, 4000}}))), ElementsAre("-d"));
  EXPECT_EQ(verdict_of(selector, "b").temperature, Temperature::kHot);
  EXPECT_EQ(verdict_of(selector, "b").reason, "4000/s >= hot-qps 3000 (25.0 % of traffic)");
  EXPECT_THAT(told(selector.update(window_of(seconds(6), {}))),
              testing::UnorderedElementsAre("-b", "-c"));
}

TEST(SelectorRules, ADisplacementTakesBothIntervals) {
  Selector selector({.top_n = 1, .demotion_interval = seconds(60)});
  selector.update(window_of(seconds(0), {{"a", 5000}, {"b", 4000}}));
  // A place that is free anyway is taken at once.
  EXPECT_THAT(told(selector.update(window_of(seconds(11), {{"b", 4000}}))),
              ElementsAre("-a", "+b"));
  EXPECT_THAT(told(selector.update(window_of(seconds(30), {{"b", 4000}, {"c", 9000}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(71), {{"b", 4000}, {"c", 9000}}))),
              testing::UnorderedElementsAre("-b", "+c"));
}

// Written while it is filled, then only read: soon hot, by what the window says, not ten seconds
// later.
TEST(SelectorRules, WritesAtTheBeginningAreForgivenWhenReadsDominate) {
  Selector selector({});
  EXPECT_THAT(noticed(selector.update(window_of(seconds(0), {{"a", 2000, 1000}}))),
              ElementsAre("a cold > write-hot"));
  EXPECT_THAT(selector.update(window_of(seconds(1), {{"a", 15'000, 1000}})), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(2), {{"a", 20'000, 1000}}))),
              ElementsAre("+a"));
}

// A key that is hardly touched any more is cold, not write-hot.
TEST(SelectorRules, TheLastAccessesOfAHotKeyDoNotMakeItWriteHot) {
  Selector selector({});
  selector.update(window_of(seconds(0), {{"a", 4000}}));
  EXPECT_THAT(noticed(selector.update(window_of(seconds(5), {{"a", 0.1, 0.1}}))),
              ElementsAre("a hot > cold"));
}

TEST(SelectorRules, KeysMaxIsForAllTogetherAndSaysWhoHadNoRoom) {
  const Measure misses{seconds(10), Dimension::kMisses};
  SelectorOptions options = with({rule("m:*", 300, 50, misses)});
  options.keys_max = 3;
  Selector selector(options);
  const Summary one[] = {window_of(seconds(0), {{"a", 600}, {"b", 700}}),
                         window_of(seconds(0), misses, {})};
  selector.update(one);
  const Summary two[] = {window_of(seconds(1), {{"a", 600}, {"b", 700}}),
                         window_of(seconds(1), misses, {{"m:1", 2000}, {"m:2", 9000}})};
  const auto changes = selector.update(two);
  EXPECT_THAT(noticed(changes), ElementsAre("a warm > cold", "m:2 cold > hot", "m:1 cold > warm"));
  EXPECT_EQ(changes[0].verdict.reason, "600/s: 3 busier keys are already listed");
}

TEST(SelectorRules, OtherThresholdsCountFromTheNextUpdate) {
  Selector selector(with({rule("a*", 100, 50), rule("b*", 100, 50)}));
  selector.update(window_of(seconds(0), {{"a1", 200}, {"b1", 200}, {"c", 10}}));
  ASSERT_EQ(temperature_of(selector, "a1"), Temperature::kHot);
  const TimePoint since = verdict_of(selector, "a1").since;
  // b* has gone, and a* is another rule with another name and threshold.
  selector.reconfigure(with({rule("a1", 150, 50)}));
  const auto changes =
      selector.update(window_of(seconds(100), {{"a1", 200}, {"b1", 200}, {"c", 10}}));
  EXPECT_EQ(temperature_of(selector, "a1"), Temperature::kHot);
  EXPECT_EQ(verdict_of(selector, "a1").since, since);
  EXPECT_EQ(verdict_of(selector, "a1").rule, "a1");
  EXPECT_THAT(told(changes), ElementsAre("-b1")) << "200/s is cold by the default rule";
}

TEST(SelectorRules, AKeyOfAnotherMeasureIsJudgedByItsNewOne) {
  const Measure bytes{seconds(10), Dimension::kBytes};
  Selector selector(with({rule("a*", 100, 50)}));
  selector.update(window_of(seconds(0), {{"a", 200}}));
  SelectorOptions next = with({rule("a*", 1000, 500, bytes)});
  selector.reconfigure(next);
  const Summary summaries[] = {window_of(seconds(100), {{"a", 200}}),
                               window_of(seconds(100), bytes, {{"a", 20'000}})};
  EXPECT_THAT(told(selector.update(summaries)), IsEmpty());
  EXPECT_EQ(verdict_of(selector, "a").measure, bytes);
  EXPECT_EQ(verdict_of(selector, "a").rate, 2000);
}

TEST(SelectorRules, ALowerTopNTakesTheColdestOnes) {
  SelectorOptions options = with({rule("*", 100, 50)});
  options.top_n = 3;
  Selector selector(options);
  selector.update(window_of(seconds(0), {{"a", 500}, {"b", 400}, {"c", 300}}));
  ASSERT_EQ(temperature_of(selector, "c"), Temperature::kHot);
  options.top_n = 1;
  selector.reconfigure(options);
  selector.update(window_of(seconds(1), {{"a", 500}, {"b", 400}, {"c", 300}}));
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kHot);
  EXPECT_EQ(temperature_of(selector, "b"), Temperature::kWarm);
  EXPECT_EQ(temperature_of(selector, "c"), Temperature::kWarm);
}

}  // namespace
}  // namespace heatsink::detect
