// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace heatsink::advice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

KeyPlace named(std::string name) {
  return {.name = std::move(name), .server = "10.0.0.7:6379", .has_proxy = true};
}

Remedy of(const Advice& advice, ReliefKind relief) {
  return *std::find_if(advice.remedies.begin(), advice.remedies.end(),
                       [&](const Remedy& each) { return each.relief == relief; });
}

TEST(Advise, AReadKeyIsToBeCopied) {
  const Advice advice =
      advise({.reads_rate = 20'000, .writes_rate = 2, .node_rate = 60'000, .value = Bytes{512}});
  EXPECT_EQ(advice.headline,
            "local copies: takes off 99.9 % of its load on the server (33.3 % of the node's "
            "requests); 842 B of memory; a write by another client is seen when its invalidation "
            "arrives, after at most 1s");
  EXPECT_EQ(advice.remedies.front().relief, ReliefKind::kCoherentCopies);
}

TEST(Advise, CopiesThatAreNeverWrongGoFirstWhenTheyTakeOffNearlyAsMuch) {
  const Advice often = advise({.reads_rate = 1000, .writes_rate = 120});
  EXPECT_EQ(often.remedies.front().relief, ReliefKind::kAgingCopies) << often.headline;
  const Advice seldom = advise({.reads_rate = 1000, .writes_rate = 1});
  EXPECT_EQ(seldom.remedies.front().relief, ReliefKind::kCoherentCopies) << seldom.headline;
  EXPECT_LT(seldom.remedies.front().effect.key_removed,
            of(seldom, ReliefKind::kAgingCopies).effect.key_removed);
}

// A proxy is already there, and copies by age need another program.
TEST(Advise, AtAProxyItsOwnCopiesGoBeforeACodeChange) {
  const KeyTraffic key{.reads_rate = 1000, .writes_rate = 120};
  const Advice at_proxy = advise(key, {}, {.has_proxy = true});
  EXPECT_EQ(at_proxy.remedies.front().relief, ReliefKind::kCoherentCopies) << at_proxy.headline;
  EXPECT_TRUE(of(at_proxy, ReliefKind::kAgingCopies).helps);
}

// In no mix of reads and writes, also where the writes can be gathered.
TEST(Advise, AtAProxyCopiesByAgeAreNeverAboveItsOwn) {
  int both_help = 0;
  for (double writes = 1; writes < 4000; writes *= 1.2) {
    const KeyTraffic key{.reads_rate = 1000, .writes_rate = writes, .use = {.gatherable = 1}};
    const Advice advice = advise(key, {}, {.has_proxy = true});
    const auto at = [&](ReliefKind relief) {
      return std::ranges::find(advice.remedies, relief, &Remedy::relief);
    };
    const auto own = at(ReliefKind::kCoherentCopies), by_age = at(ReliefKind::kAgingCopies);
    if (by_age == advice.remedies.end() || !own->helps || !by_age->helps) continue;
    EXPECT_LT(own, by_age) << writes << ": " << advice.headline;
    ++both_help;
  }
  EXPECT_GT(both_help, 10);
}

TEST(Advise, NoneOfTheseForAKeyThatIsOnlyWritten) {
  const Advice advice =
      advise({.reads_rate = 10, .writes_rate = 2000, .masters = 3, .use = {.gatherable = 0}});
  EXPECT_THAT(advice.headline, HasSubstr("write-hot: 99.5 % of its accesses are writes"));
  EXPECT_THAT(advice.headline, HasSubstr("none of these"));
  EXPECT_TRUE(std::none_of(advice.remedies.begin(), advice.remedies.end(),
                           [](const Remedy& each) { return each.helps; }));
  EXPECT_THAT(of(advice, ReliefKind::kSplit).text, HasSubstr("each write becomes 3"));
}

TEST(Advise, OnlyALimitForAKeyThatIsWrittenTooOften) {
  const Advice advice = advise({.reads_rate = 10, .writes_rate = 6000, .use = {.gatherable = 0}});
  EXPECT_EQ(advice.remedies.front().relief, ReliefKind::kLimit);
  EXPECT_THAT(advice.headline, HasSubstr("only a limit helps"));
  EXPECT_THAT(advice.headline, HasSubstr("3010 requests a second are refused"));
}

TEST(Advise, ALimitIsNeverFirstWhereSomethingElseHelps) {
  const Advice advice = advise({.reads_rate = 1'000'000, .writes_rate = 400'000, .replicas = 1});
  EXPECT_NE(advice.remedies.front().relief, ReliefKind::kLimit) << advice.headline;
  EXPECT_TRUE(of(advice, ReliefKind::kLimit).helps);
}

TEST(Advise, AHotCounterIsGathered) {
  const KeyTraffic counter{
      .reads_rate = 10, .writes_rate = 3000, .workers = 2, .use = {.gatherable = 1}};
  const Advice advice = advise(counter, {}, named("views:1"));
  EXPECT_EQ(advice.remedies.front().relief, ReliefKind::kGatheredWrites) << advice.headline;
  EXPECT_THAT(advice.headline, HasSubstr("gathered writes: takes off 67.0 %"));
  EXPECT_THAT(advice.headline, HasSubstr("984 of 3000 writes a second"));
  EXPECT_THAT(of(advice, ReliefKind::kGatheredWrites).lines,
              ElementsAre("rules:", "  - match: \"views:1\"", "    coalesce: 2ms"));
}

TEST(Advise, OnlyWhatCanBeGatheredCounts) {
  const Advice hash = advise({.writes_rate = 3000, .use = {.gatherable = 0}});
  EXPECT_FALSE(of(hash, ReliefKind::kGatheredWrites).helps);
  EXPECT_THAT(of(hash, ReliefKind::kGatheredWrites).text, HasSubstr("not SET, INCR"));
  const Advice half = advise({.writes_rate = 3000, .use = {.gatherable = 0.5}});
  EXPECT_NEAR(of(half, ReliefKind::kGatheredWrites).effect.key_removed, 0.34, 0.01);
  EXPECT_FALSE(of(advise({.reads_rate = 3000}), ReliefKind::kGatheredWrites).helps);
}

TEST(Advise, AKeyThatIsReadAndWrittenGetsTheLastCopyOverALimit) {
  const Advice bid = advise({.reads_rate = 2850, .writes_rate = 150}, {}, named("bid"));
  const Remedy& stale = of(bid, ReliefKind::kStaleReads);
  EXPECT_TRUE(stale.helps);
  EXPECT_THAT(stale.lines,
              ElementsAre("rules:", "  - match: \"bid\"", "    window: 1s", "    hot-qps: 300",
                          "    limit: {rate: 590/s, over: stale}"));
  EXPECT_THAT(of(advise({.reads_rate = 100, .writes_rate = 2900}), ReliefKind::kStaleReads).text,
              HasSubstr("holds nothing back"));
}

TEST(Advise, OneClientThatHammersIsHeldBackAlone) {
  const KeyTraffic hammered{.reads_rate = 1000,
                            .use = {.clients = 3, .first_client = 0.9, .second_client = 0.05}};
  const Remedy& held = of(advise(hammered, {}, named("k")), ReliefKind::kClientLimit);
  EXPECT_TRUE(held.helps);
  EXPECT_NEAR(held.effect.key_removed, 0.8, 0.01);
  EXPECT_EQ(held.lines.back(), "    limit: {rate: 100/s, per: client}");
  KeyTraffic crowd = hammered;
  crowd.use.first_client = 0.3;
  EXPECT_THAT(of(advise(crowd), ReliefKind::kClientLimit).text, HasSubstr("no client stands out"));
  crowd.use = {.clients = 1, .first_client = 1};
  EXPECT_FALSE(of(advise(crowd), ReliefKind::kClientLimit).helps);
}

TEST(Advise, WhatTheLibraryKeepsForManyProcesses) {
  KeyTraffic key{.writes_rate = 4000, .use = {.clients = 8, .gatherable = 0}};
  EXPECT_FALSE(of(advise(key), ReliefKind::kLeases).helps);
  EXPECT_FALSE(of(advise(key), ReliefKind::kWindowStatistics).helps);
  key.use.is_limit_state = true;
  EXPECT_NEAR(of(advise(key), ReliefKind::kLeases).effect.key_removed, 0.98, 0.001);
  key.use.is_sample_log = true;
  EXPECT_TRUE(of(advise(key), ReliefKind::kWindowStatistics).helps);
}

TEST(Advise, ASmallKeyOfABusyNodePointsToItsSlots) {
  const KeyTraffic small{.reads_rate = 50, .node_rate = 50'000, .masters = 3};
  const Remedy& slots = of(advise(small, {}, named("k")), ReliefKind::kSlots);
  EXPECT_THAT(slots.text, HasSubstr("0.1 % of its node's requests"));
  EXPECT_THAT(slots.lines, ElementsAre("heatsink top redis://10.0.0.7:6379 --source slots"));
}

TEST(Advise, WhatIsDoneIsSaidAsDone) {
  KeyTraffic key{.reads_rate = 10'000, .writes_rate = 10, .node_rate = 20'000};
  key.ttl = std::chrono::seconds(60);
  key.in_force = {.hit_ratio = 0.99,
                  .warmed = true,
                  .coalesce = Millis(2),
                  .stale_while_error = std::chrono::seconds(30),
                  .limit = "5000/s per key; over it: reject",
                  .limited_rate = 3};
  const Advice advice = advise(key, {}, named("k"));
  for (const ReliefKind relief :
       {ReliefKind::kCoherentCopies, ReliefKind::kWarming, ReliefKind::kGatheredWrites,
        ReliefKind::kStaleWhileError, ReliefKind::kLimit, ReliefKind::kOneReadAtExpiry}) {
    EXPECT_TRUE(of(advice, relief).done) << to_string(relief);
    EXPECT_FALSE(of(advice, relief).helps) << to_string(relief);
    EXPECT_THAT(of(advice, relief).lines, IsEmpty()) << to_string(relief);
  }
  EXPECT_EQ(of(advice, ReliefKind::kCoherentCopies).text,
            "they answer 99.0 % of its reads, which takes off 98.9 % of its load on the server "
            "(49.5 % of the node's requests)");
  EXPECT_THAT(advice.headline, HasSubstr("copies by age")) << "what else helps";
  key.in_force.limit = "5/s per client, counting commands that go to the server; over it: reject";
  EXPECT_TRUE(of(advise(key), ReliefKind::kClientLimit).done);
  EXPECT_FALSE(of(advise(key), ReliefKind::kLimit).done);
}

// Load that hits have taken off cannot be taken off again.
TEST(Advise, TheRestIsJudgedByWhatIsLeft) {
  KeyTraffic key{.reads_rate = 10'000, .writes_rate = 100};
  const double before = of(advise(key), ReliefKind::kGatheredWrites).effect.key_removed;
  key.in_force.hit_ratio = 1;
  const double after = of(advise(key), ReliefKind::kGatheredWrites).effect.key_removed;
  EXPECT_GT(after, 50 * before);
}

TEST(Advise, EveryReliefOfTheMapIsConsidered) {
  for (const KeyTraffic& key : {KeyTraffic{.reads_rate = 100}, KeyTraffic{.writes_rate = 100},
                                KeyTraffic{.reads_rate = 1, .value = mebibytes(1)}}) {
    const Advice advice = advise(key);
    for (int i = 0; i <= static_cast<int>(ReliefKind::kSplit); ++i) {
      const auto relief = static_cast<ReliefKind>(i);
      const bool is_there = std::any_of(advice.remedies.begin(), advice.remedies.end(),
                                        [&](const Remedy& each) { return each.relief == relief; });
      EXPECT_TRUE(is_there || (relief == ReliefKind::kAgingCopies && key.value))
          << to_string(relief);
    }
  }
}

TEST(Advise, WhatHelpsEndsInLinesToPaste) {
  for (const bool has_proxy : {false, true}) {
    KeyPlace place = named("k");
    place.has_proxy = has_proxy;
    for (const double reads : {0.0, 10.0, 1000.0, 20'000.0}) {
      for (const double writes : {1.0, 100.0, 5000.0}) {
        const KeyTraffic key{.reads_rate = reads,
                             .writes_rate = writes,
                             .masters = 3,
                             .replicas = 1,
                             .use = {.clients = 4, .first_client = 0.8, .second_client = 0.1}};
        for (const Remedy& each : advise(key, {}, place).remedies) {
          // Warming is an order to a proxy.
          const bool is_order = each.relief == ReliefKind::kWarming;
          if (!each.helps || (is_order && !has_proxy)) continue;
          EXPECT_THAT(each.lines, Not(IsEmpty())) << to_string(each.relief);
        }
      }
    }
  }
}

// Half of the traffic of a slow node is hot where the server was looked at, and not for a proxy.
TEST(Advise, AKeyBelowTheProxysThresholdNeedsARule) {
  const Lines slow = of(advise({.reads_rate = 480, .writes_rate = 1}, {}, named("slow")),
                        ReliefKind::kCoherentCopies)
                         .lines;
  EXPECT_THAT(slow, ElementsAre("rules:", "  - match: \"slow\"", "    hot-qps: 240"));
  const Lines fast =
      of(advise({.reads_rate = 4800}, {}, named("fast")), ReliefKind::kCoherentCopies).lines;
  EXPECT_THAT(fast, ElementsAre("heatsink warm --for 30m 'fast'")) << "the copy comes by itself";
}

TEST(Advise, SaysWhyThereCanBeNoCopies) {
  const Advice big = advise({.reads_rate = 5000, .value = mebibytes(1)});
  EXPECT_EQ(of(big, ReliefKind::kCoherentCopies).text,
            "its value has 1024.0 KiB, more than cache.maximum-value-bytes (256kb): make the value "
            "smaller");
  const Advice odd = advise({.reads_rate = 5000, .reads_can_be_local = false});
  EXPECT_THAT(of(odd, ReliefKind::kCoherentCopies).text, HasSubstr("local copies do not serve"));
  EXPECT_TRUE(std::none_of(odd.remedies.begin(), odd.remedies.end(), [](const Remedy& each) {
    return each.relief == ReliefKind::kAgingCopies;
  }));
}

TEST(Advise, SaysWhyNodesDoNotHelp) {
  const Advice advice = advise({.reads_rate = 5000});
  EXPECT_THAT(of(advice, ReliefKind::kSplit).text, HasSubstr("there is only one master"));
  EXPECT_THAT(of(advice, ReliefKind::kReplicaReads).text, HasSubstr("no replica"));
  const Advice unknown = advise({.reads_rate = 5000, .replicas = {}});
  EXPECT_THAT(of(unknown, ReliefKind::kReplicaReads).text, HasSubstr("not known here"));
}

TEST(Advise, AKeyWithoutTrafficNeedsNothing) {
  EXPECT_EQ(advise({}).headline, "the key has no traffic");
  EXPECT_TRUE(advise({}).remedies.empty());
}

}  // namespace
}  // namespace heatsink::advice
