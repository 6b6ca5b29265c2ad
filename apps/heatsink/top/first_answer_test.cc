// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/first_answer.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink::app {
namespace {

using observe::Observation;
using observe::SourceState;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(100)};

Observation starting(const std::string& note = "", const std::string& trouble = "") {
  Observation out;
  out.facts.name = "monitor";
  out.note = note;
  out.trouble = trouble;
  return out;
}

Observation with_a_row() {
  Observation out = starting();
  out.report.keys.emplace_back();
  return out;
}

TEST(FirstAnswer, WhatOnlyStartsIsWaitedForWithinItsTime) {
  FirstAnswer first(kStart, seconds(20));
  const std::vector<Observation> seen{with_a_row()};
  EXPECT_TRUE(first.waits(seen, kStart + seconds(19), true));
  EXPECT_FALSE(first.waits(seen, kStart + seconds(20), true));
}

TEST(FirstAnswer, APersonWaitsForNothing) {
  FirstAnswer first(kStart, Nanos(0));
  EXPECT_FALSE(first.waits(std::vector{starting()}, kStart, true));
}

TEST(FirstAnswer, OneThatRunsIsEnough) {
  FirstAnswer first(kStart, seconds(20));
  Observation running = starting();
  running.state = SourceState::kRunning;
  EXPECT_FALSE(first.waits(std::vector{starting(), running}, kStart, true));
}

// A remark on a choice of nodes, before the first connection to the one that was chosen.
TEST(FirstAnswer, ANoteIsNoTrouble) {
  FirstAnswer first(kStart, seconds(20));
  const std::vector<Observation> seen{starting("1 of 3 masters looked at, the busiest: c:1")};
  EXPECT_FALSE(seen[0].report.upstream_up);
  for (int s = 0; s < 20; ++s) EXPECT_TRUE(first.waits(seen, kStart + seconds(s), true)) << s;
}

TEST(FirstAnswer, TroubleIsWaitedForAsLongAsARestartTakes) {
  FirstAnswer first(kStart, seconds(20));
  const std::vector<Observation> away{starting("", "Connection refused")};
  EXPECT_TRUE(first.waits(away, kStart + seconds(5), true));
  EXPECT_TRUE(first.waits(away, kStart + seconds(7), true));
  EXPECT_TRUE(first.waits(std::vector{starting()}, kStart + seconds(8), true));  // it was back
  EXPECT_TRUE(first.waits(away, kStart + seconds(9), true));
  EXPECT_TRUE(first.waits(away, kStart + seconds(11), true));
  EXPECT_FALSE(first.waits(away, kStart + seconds(12), true));
}

TEST(FirstAnswer, TroubleOfOneLeavesTheOthers) {
  FirstAnswer first(kStart, seconds(20));
  const std::vector<Observation> seen{starting("", "Connection refused"), starting()};
  EXPECT_TRUE(first.waits(seen, kStart, true));
  EXPECT_TRUE(first.waits(seen, kStart + seconds(10), true));
}

TEST(FirstAnswer, WhatIsToldOfAKeysValuesIsWaitedForAWhile) {
  FirstAnswer first(kStart, seconds(20));
  Observation seen;
  seen.report.keys.resize(3);
  for (std::uint32_t db = 0; db < 3; ++db) {
    seen.report.keys[db].verdict.count.key = db == 1 ? "other" : "k";
    seen.report.keys[db].verdict.count.db = db;
  }
  EXPECT_FALSE(first.waits_for(seen, {"k"}, kStart));  // nobody is asked
  seen.details.resize(3);
  seen.details[0].emplace();
  EXPECT_FALSE(first.waits_for(seen, {"k", 0}, kStart));
  EXPECT_FALSE(first.waits_for(seen, {"none"}, kStart));
  const TimePoint later = kStart + seconds(9);
  EXPECT_TRUE(first.waits_for(seen, {"k"}, later));
  EXPECT_TRUE(first.waits_for(seen, {"k", 2}, later + Millis(2999)));
  EXPECT_FALSE(first.waits_for(seen, {"k"}, later + seconds(3)));
  seen.details[2].emplace();
  EXPECT_FALSE(first.waits_for(seen, {"k"}, later));
}

TEST(FirstAnswer, AScanIsWaitedForBecauseItMayStillComeToAKey) {
  FirstAnswer first(kStart, seconds(20));
  Observation seen;
  seen.state = SourceState::kRunning;
  EXPECT_FALSE(first.waits_for(seen, {"k"}, kStart));  // it has no end
  seen.progress = 0.1;
  EXPECT_TRUE(first.waits_for(seen, {"k"}, kStart + seconds(19)));
  EXPECT_FALSE(first.waits_for(seen, {"k"}, kStart + seconds(20)));
  seen.state = SourceState::kFinished;
  EXPECT_FALSE(first.waits_for(seen, {"k"}, kStart));
}

TEST(FirstAnswer, WhatIsMissingIsToldWithHowLongItWas) {
  const FirstAnswer first(kStart, seconds(20));
  const TimePoint now = kStart + Millis(20'050);
  EXPECT_EQ(first.missing(with_a_row(), now), std::nullopt);
  EXPECT_EQ(first.missing(starting(), now),
            "monitor has shown nothing in 20.1 s: its first window is not complete (--for)");
  EXPECT_EQ(first.missing(starting("1 of 3 masters looked at"), now),
            "monitor has shown nothing in 20.1 s: 1 of 3 masters looked at");
  EXPECT_EQ(first.missing(starting("", "Connection refused"), now),
            "Connection refused (tried for 20.1 s)");
}

TEST(FirstAnswer, WhyItFailedIsToldAsItIsAndThatNothingIsHotIsAnAnswer) {
  const FirstAnswer first(kStart, seconds(20));
  Observation seen = starting("NOPERM: ACL SETUSER ...");
  seen.state = SourceState::kFailed;
  EXPECT_EQ(first.missing(seen, kStart), "NOPERM: ACL SETUSER ...");
  seen.state = SourceState::kRunning;
  EXPECT_EQ(first.missing(seen, kStart), std::nullopt);
}

TEST(FirstAnswer, APersonIsToldOfTroubleAndElseSeesThatItBegins) {
  const FirstAnswer first(kStart, Nanos(0));
  EXPECT_EQ(first.missing(starting(), kStart), std::nullopt);
  EXPECT_EQ(first.missing(starting("1 of 3 masters looked at"), kStart), std::nullopt);
  EXPECT_EQ(first.missing(starting("no packet yet", "Connection refused"), kStart),
            "Connection refused");
  EXPECT_EQ(first.missing(starting("", "Connection refused"), kStart), "Connection refused");
}

observe::Observation sampled(double low, double high, double unseen) {
  observe::Observation out;
  out.state = observe::SourceState::kRunning;
  out.report.hot = 100;
  out.report.absent_max = 20 + unseen;
  out.report.unseen_rate = unseen;
  detect::Verdict& verdict = out.report.keys.emplace_back().verdict;
  verdict.count.key = "k";
  verdict.rate_low = low;
  verdict.rate = (low + high) / 2;
  verdict.rate_high = high;
  verdict.temperature = low >= 100 ? detect::Temperature::kHot : detect::Temperature::kCold;
  return out;
}

TEST(FirstAnswerOfAKey, IsWhetherItIsHotOrNot) {
  const auto open = [](const observe::Observation& seen, const char* key) {
    return FirstAnswer::is_undecided(seen, {.name = key});
  };
  EXPECT_TRUE(open(sampled(4, 330, 0), "k"));
  EXPECT_FALSE(open(sampled(110, 330, 500), "k")) << "proven hot";
  EXPECT_FALSE(open(sampled(4, 60, 10), "k")) << "proven not hot";
  EXPECT_TRUE(open(sampled(4, 60, 90), "k")) << "the windows missed 90/s";
  EXPECT_FALSE(open(sampled(4, 330, 0), "other"));
  observe::Observation brief = sampled(4, 60, 10);
  brief.may_be_pause = true;
  EXPECT_TRUE(open(brief, "k")) << "it may burst again";
  EXPECT_TRUE(open(brief, "other"));
  EXPECT_TRUE(open(sampled(4, 330, 90), "other"));
}

TEST(FirstAnswer, WaitsWhileNothingIsDecided) {
  FirstAnswer first(kStart, seconds(20));
  observe::Observation seen = sampled(4, 330, 0);
  seen.report.undecided = "no key is proven hot";
  EXPECT_TRUE(first.waits(std::vector{seen}, kStart + seconds(19), true));
  EXPECT_FALSE(first.waits(std::vector{seen}, kStart + seconds(19), false));
  EXPECT_FALSE(first.waits(std::vector{seen}, kStart + seconds(20), true));
  seen.report.undecided.clear();
  EXPECT_FALSE(first.waits(std::vector{seen}, kStart + seconds(1), true));
}

}  // namespace
}  // namespace heatsink::app
