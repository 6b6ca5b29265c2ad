// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Selector, NothingHotIsAnAnswer) {
  Selector selector({});
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(told(selector.update(window_of(seconds(i), {{"a", 499}, {"b", 1}}))), IsEmpty());
    EXPECT_THAT(selector.verdicts(), IsEmpty());
  }
  EXPECT_THAT(told(selector.update(Summary{})), IsEmpty());
}

// The verdict keeps the evidence of its moment; people who ask later see the present figures.
TEST(Selector, TheReasonOfNowHasTheFiguresOfNow) {
  Selector selector({});
  selector.update(window_of(seconds(1), {{"a", 3100}, {"b", 26'900}}));
  selector.update(window_of(seconds(2), {{"a", 7930}, {"b", 22'070}}));
  const auto a = std::find_if(selector.verdicts().begin(), selector.verdicts().end(),
                              [](const Verdict& verdict) { return verdict.count.key == "a"; });
  ASSERT_NE(a, selector.verdicts().end());
  EXPECT_EQ(a->reason, "3100/s >= hot-qps 3000 (10.3 % of traffic)");
  EXPECT_EQ(selector.reason_now(*a), "7930/s >= hot-qps 3000 (26.4 % of traffic)");
}

// Hot by hysteresis: the rate has fallen below the threshold, and is not said to be above it.
TEST(Selector, TheReasonOfNowDoesNotClaimAThresholdThatIsNotReached) {
  Selector selector({});
  selector.update(window_of(seconds(1), {{"a", 3100}, {"b", 26'900}}));
  selector.update(window_of(seconds(2), {{"a", 2900}, {"b", 27'100}}));
  const auto a = std::find_if(selector.verdicts().begin(), selector.verdicts().end(),
                              [](const Verdict& verdict) { return verdict.count.key == "a"; });
  ASSERT_NE(a, selector.verdicts().end());
  ASSERT_EQ(a->temperature, Temperature::kHot);
  EXPECT_THAT(selector.reason_now(*a), testing::HasSubstr("2900/s"));
  EXPECT_THAT(selector.reason_now(*a), testing::Not(testing::HasSubstr(">=")));
}

TEST(Selector, TheReasonOfAKeyThatIsNotKnownIsItsOwn) {
  Verdict verdict;
  verdict.count = key_named("never seen");
  verdict.reason = "as it was";
  EXPECT_EQ(Selector({}).reason_now(verdict), "as it was");
}

TEST(Selector, PromotesAtOnceAndSaysWhy) {
  Selector selector({});
  const std::vector<Change> changes =
      selector.update(window_of(seconds(100), {{"a", 3000, 0, 50}, {"b", 27'000 - 10}, {"c", 10}}));
  EXPECT_THAT(told(changes), ElementsAre("+b", "+a"));
  const Verdict& a = changes[1].verdict;
  EXPECT_EQ(a.temperature, Temperature::kHot);
  EXPECT_EQ(a.reason, "3000/s >= hot-qps 3000 (10.0 % of traffic)");
  EXPECT_DOUBLE_EQ(a.rate_low, 3000);
  EXPECT_DOUBLE_EQ(a.rate_high, 3050);
  EXPECT_DOUBLE_EQ(a.share, 0.1);
  EXPECT_EQ(a.since, TimePoint(seconds(100)));
  // Announced once.
  EXPECT_THAT(told(selector.update(window_of(seconds(101), {{"a", 4000}, {"b", 9000}}))),
              IsEmpty());
  EXPECT_EQ(verdict_of(selector, "a").since, TimePoint(seconds(100)));
  EXPECT_DOUBLE_EQ(verdict_of(selector, "a").rate, 4000);
}

TEST(Selector, AnUnprovenRateIsNotHot) {
  Selector selector({});
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 2999, 0, 5000}}))), IsEmpty());
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWarm);
}

TEST(Selector, HysteresisAndResidence) {
  Selector selector({});
  selector.update(window_of(seconds(0), {{"a", 3000}}));
  // Within the hysteresis for ever.
  EXPECT_THAT(told(selector.update(window_of(seconds(50), {{"a", 2400}}))), IsEmpty());
  // Below it: out, but warm.
  const auto changes = selector.update(window_of(seconds(51), {{"a", 2399}}));
  EXPECT_THAT(told(changes), ElementsAre("-a"));
  EXPECT_EQ(changes[0].verdict.reason, "at most 2399/s < 2400 (hot-qps 3000 x demote-ratio 0.8)");
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWarm);
  // Back in the hysteresis is not hot again.
  EXPECT_THAT(told(selector.update(window_of(seconds(52), {{"a", 2999}}))), IsEmpty());
  // Hot again; this time it falls at once, and stays its residence.
  EXPECT_THAT(told(selector.update(window_of(seconds(53), {{"a", 3000}}))), ElementsAre("+a"));
  EXPECT_THAT(told(selector.update(window_of(seconds(62), {{"a", 1}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(63), {{"a", 1}}))), ElementsAre("-a"));
  EXPECT_THAT(selector.verdicts(), IsEmpty());
}

TEST(Selector, ADemotionNeedsProofToo) {
  Selector selector({});
  selector.update(window_of(seconds(0), {{"a", 3000}}));
  EXPECT_THAT(told(selector.update(window_of(seconds(60), {{"a", 1000, 0, 1400}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(61), {{"a", 1000, 0, 1300}}))),
              ElementsAre("-a"));
}

TEST(Selector, AVanishedKeyIsColdAfterItsResidence) {
  Selector selector({});
  selector.update(window_of(seconds(0), {{"a", 3000}, {"w", 600}}));
  Summary nothing = window_of(seconds(5), {});
  nothing.absent_max = 120;
  EXPECT_THAT(told(selector.update(nothing)), IsEmpty());
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kHot);
  EXPECT_EQ(temperature_of(selector, "w"), Temperature::kCold);
  nothing.at = TimePoint(seconds(10));
  const auto changes = selector.update(nothing);
  EXPECT_THAT(told(changes), ElementsAre("-a"));
  EXPECT_EQ(changes[0].verdict.temperature, Temperature::kCold);
  EXPECT_EQ(changes[0].verdict.reason, "at most 12/s: no longer among the busiest keys");
}

TEST(Selector, ConfirmsOverConsecutiveWindows) {
  Selector selector({.rules = RuleSet(Rule{.confirm_windows = 3})});
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 3000}}))), IsEmpty());
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "a").reason, "3000/s >= hot-qps 3000, but not yet for 3 windows");
  EXPECT_THAT(told(selector.update(window_of(seconds(19), {{"a", 3000}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(milliseconds(19'500), {{"a", 2999}}))),
              IsEmpty());  // a gap
  EXPECT_THAT(told(selector.update(window_of(seconds(20), {{"a", 3000}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(milliseconds(39'999), {{"a", 3000}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(40), {{"a", 3000}}))), ElementsAre("+a"));
}

TEST(Selector, WriteHotIsNotPromotedAndDoesNotFlap) {
  Selector selector({});
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 2990, 300}}))), IsEmpty());
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWriteHot);
  EXPECT_EQ(verdict_of(selector, "a").reason,
            "3290/s >= hot-qps 3000, but 10.0 reads per write < 10: writes would drop a local copy "
            "too often");
  // A little better than the ratio, for long: not enough.
  EXPECT_THAT(told(selector.update(window_of(seconds(30), {{"a", 3700, 300}}))), IsEmpty());
  // Clearly better: a copy pays.
  EXPECT_THAT(told(selector.update(window_of(seconds(31), {{"a", 3760, 300}}))), ElementsAre("+a"));
  // Worse again: out at once, residence or not; and then in again only after its residence there,
  // unless it is read twice as often as the ratio asks.
  const auto changes = selector.update(window_of(seconds(32), {{"a", 2900, 300}}));
  EXPECT_THAT(told(changes), ElementsAre("-a"));
  EXPECT_EQ(changes[0].verdict.temperature, Temperature::kWriteHot);
  EXPECT_THAT(told(selector.update(window_of(seconds(41), {{"a", 5980, 300}}))), IsEmpty());
  EXPECT_THAT(told(selector.update(window_of(seconds(42), {{"a", 5980, 300}}))), ElementsAre("+a"));
  selector.update(window_of(seconds(43), {{"a", 1000, 9000}}));
  EXPECT_THAT(told(selector.update(window_of(seconds(44), {{"a", 6000, 300}}))), ElementsAre("+a"));
  // A write-hot key that cools down was never promoted: no change.
  selector.update(window_of(seconds(45), {{"a", 1000, 9000}}));
  EXPECT_THAT(told(selector.update(window_of(seconds(55), {{"a", 10}}))), IsEmpty());
  EXPECT_THAT(selector.verdicts(), IsEmpty());
}

// Each turn would be a line in the log and an event.
TEST(Selector, AKeyNearItsThresholdDoesNotTurnWarmAndWriteHotByTurns) {
  Selector selector({});
  std::size_t changes = 0;
  for (int second = 0; second < 100; ++second) {
    const bool is_above = second % 2 == 0;
    changes +=
        selector
            .update(window_of(seconds(second),
                              {{"a", is_above ? 1000.0 : 700.0, is_above ? 2100.0 : 1600.0}}))
            .size();
  }
  EXPECT_LE(changes, 20U) << "one each minimum-residence, of 10 s";
}

TEST(Selector, OnlyTheTopNAreHot) {
  Selector selector({.top_n = 2});
  EXPECT_THAT(told(selector.update(window_of(seconds(0), {{"a", 5000}, {"b", 4000}, {"c", 3000}}))),
              ElementsAre("+a", "+b"));
  EXPECT_EQ(temperature_of(selector, "c"), Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "c").reason,
            "3000/s >= hot-qps 3000, but 2 other keys are hot (top-n)");
  // Clearly busier, but the holders are in their residence.
  EXPECT_THAT(told(selector.update(window_of(seconds(9), {{"a", 5000}, {"b", 4000}, {"c", 9000}}))),
              IsEmpty());
  // Not clearly busier.
  EXPECT_THAT(
      told(selector.update(window_of(seconds(10), {{"a", 5000}, {"b", 4000}, {"c", 4900}}))),
      IsEmpty());
  const auto changes =
      selector.update(window_of(seconds(11), {{"a", 5000}, {"b", 4000}, {"c", 5100}}));
  EXPECT_THAT(told(changes), testing::UnorderedElementsAre("-b", "+c"));
  EXPECT_EQ(verdict_of(selector, "b").reason,
            "4000/s: a busier key took its place among the top-n 2");
}

TEST(Selector, WarmHasHysteresisAndOrder) {
  Selector selector({});
  selector.update(window_of(seconds(0), {{"a", 500}, {"b", 499}, {"c", 800}, {"h", 3000}}));
  ASSERT_EQ(selector.verdicts().size(), 3u);
  EXPECT_EQ(selector.verdicts()[0].count.key, "h");
  EXPECT_EQ(selector.verdicts()[1].count.key, "c");
  EXPECT_EQ(verdict_of(selector, "a").reason, "500/s >= warm-qps 500 (10.4 % of traffic)");
  selector.update(window_of(seconds(1), {{"a", 400}}));
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWarm);
  selector.update(window_of(seconds(2), {{"a", 399}}));
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kCold);
}

TEST(Selector, BoundedByKeysMaxHotFirst) {
  Selector selector({.top_n = 0, .keys_max = 10});
  std::vector<Traffic> keys;
  for (int i = 0; i < 100; ++i) keys.push_back({"k" + std::to_string(i), 5000.0 + i});
  EXPECT_EQ(selector.update(window_of(seconds(0), keys)).size(), 10u);
  EXPECT_EQ(selector.verdicts().size(), 10u);
  // All of them leave the list and others come: never more than ten.
  std::vector<Traffic> others;
  for (int i = 0; i < 100; ++i) others.push_back({"o" + std::to_string(i), 9000.0 + i});
  selector.update(window_of(seconds(1), others));
  EXPECT_EQ(selector.verdicts().size(), 10u);
  EXPECT_EQ(temperature_of(selector, "k99"), Temperature::kHot);  // in residence
  selector.update(window_of(seconds(20), others));
  EXPECT_EQ(temperature_of(selector, "o99"), Temperature::kHot);
}

// Whatever the traffic: promotions and demotions alternate per key, the hot are exactly those
// promoted and not demoted, and no limit is passed.
TEST(Selector, ChangesAndVerdictsAgreeUnderRandomTraffic) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    Selector selector(
        {.rules = RuleSet(Rule{.confirm_windows = 1 + static_cast<std::uint32_t>(round % 2)}),
         .top_n = 5,
         .keys_max = 12,
         .burst = 0});
    std::set<std::string> hot;
    Nanos at = seconds(0);
    for (int step = 0; step < 300; ++step, at += milliseconds(random() % 5000)) {
      std::vector<Traffic> keys;
      for (int key = 0; key < 30; ++key) {
        if (random() % 4 == 0) continue;
        keys.push_back({"k" + std::to_string(key), static_cast<double>(random() % 6000),
                        static_cast<double>(random() % 2 == 0 ? random() % 600 : 0),
                        static_cast<double>(random() % 100)});
      }
      for (const Change& change : selector.update(window_of(at, keys))) {
        EXPECT_FALSE(change.verdict.reason.empty());
        if (change.kind == Change::Kind::kNotice) continue;
        if (change.kind == Change::Kind::kPromote) {
          EXPECT_EQ(change.verdict.temperature, Temperature::kHot);
          EXPECT_GE(change.verdict.rate_low, 3000);
          EXPECT_TRUE(hot.insert(change.verdict.count.key).second);
        } else {
          EXPECT_NE(change.verdict.temperature, Temperature::kHot);
          EXPECT_EQ(hot.erase(change.verdict.count.key), 1u);
        }
      }
      std::set<std::string> shown;
      for (const Verdict& verdict : selector.verdicts()) {
        if (verdict.temperature == Temperature::kHot) shown.insert(verdict.count.key);
        EXPECT_FALSE(verdict.reason.empty());
        EXPECT_NE(verdict.temperature, Temperature::kCold);
      }
      ASSERT_EQ(shown, hot);
      ASSERT_LE(hot.size(), 5u);
      ASSERT_LE(selector.verdicts().size(), 12u);
    }
  }
}

// Recorder and selector together: the access that completes the evidence promotes.
TEST(Selector, PromotesTheMomentTheEvidenceIsThere) {
  const SelectorOptions options{.rules = RuleSet(Rule{.hot = 100, .warm = 10}), .burst = 0};
  Recorder recorder({.urgent_count = 1000});
  Selector selector(options);
  const std::string key = "k";
  for (int i = 1; i <= 1000; ++i) {
    const TimePoint now = TimePoint(seconds(50)) + std::chrono::microseconds(i);
    recorder.record({in_db(hash_name(key, 1), 0), key}, now);
    const bool urgent = recorder.drain(now);
    ASSERT_EQ(urgent, i == 1000);
    const Summary shard = recorder.summarize(now, 10);
    EXPECT_EQ(told(selector.update(merge({&shard, 1}, 10))).size(), i == 1000 ? 1u : 0u);
  }
}

using std::chrono::seconds;

KeyCount count(std::uint64_t hash, std::uint64_t high) {
  KeyCount out;
  out.hash = KeyHash{hash};
  out.high = high;
  return out;
}

std::vector<Verdict> shown(const std::vector<std::uint64_t>& hashes) {
  std::vector<Verdict> out;
  for (const std::uint64_t hash : hashes) out.emplace_back().count.hash = KeyHash{hash};
  return out;
}

// Ten seconds: keys 1 and 2 are counted; any other key has at most 30.
Summary summary() {
  Summary out;
  out.window = out.covered = seconds(10);
  out.covers_window = true;
  out.absent_max = 30;
  out.keys = {count(1, 500), count(2, 80)};
  return out;
}

TEST(AbsentMax, OfCountedKeysThoseThatAreShownAreLeftOut) {
  EXPECT_EQ(absent_max(summary(), {}), 50);
  EXPECT_EQ(absent_max(summary(), shown({1})), 8);
}

TEST(AbsentMax, WhatIsNotCountedOneByOneIsBounded) {
  EXPECT_EQ(absent_max(summary(), shown({1, 2})), 3);
  EXPECT_EQ(absent_max(summary(), shown({1, 2, 7})), 3);  // hot by another window alone
  Summary nothing = summary();
  nothing.keys.clear();
  nothing.absent_max = 0;
  EXPECT_EQ(absent_max(nothing, {}), 0);
}

TEST(AbsentMax, IsUnknownWhereTheWindowCountsNoRequestsOrHasNotBegun) {
  Summary bytes = summary();
  bytes.dimension = Dimension::kBytes;
  EXPECT_EQ(absent_max(bytes, {}), std::nullopt);
  EXPECT_EQ(absent_max(Summary{}, {}), std::nullopt);
}

}  // namespace

}  // namespace heatsink::detect
