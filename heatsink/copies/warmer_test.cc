// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warmer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/warming_options_for_test.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

using report::WarmOutcome;

class WarmerTest : public testing::Test {
 protected:
  WarmerTest() { shared_.proof.set_up(true); }

  std::string begin(const std::string& name, int until_ms, std::uint32_t source = Warmer::kByHand,
                    int now_ms = 0) {
    std::string why;
    const bool begun = warmer_.begin({name, 0}, source, at(until_ms), at(now_ms), why);
    EXPECT_EQ(begun, why.empty());
    return why;
  }
  KeyHash hash_of(const std::string& name) const { return warmer_.hash_of({name, 0}); }
  bool holds(const std::string& name) const { return warmer_.holds(hash_of(name)); }

  std::vector<FillRequest> due(int now_ms) { return warmer_.due(at(now_ms)); }
  void end(const std::vector<FillRequest>& asked, FillOutcome outcome, int now_ms) {
    for (const FillRequest& each : asked) warmer_.filled(each, outcome, at(now_ms));
  }
  void fill(const std::string& name, int sent_ms, int deadline_ms) {
    auto copy = std::make_unique<cache::Copy>();
    copy->fill_sent_at = at(sent_ms);
    copy->deadline = at(deadline_ms);
    copy->reply = "$1\r\nv\r\n";
    ASSERT_TRUE(shared_.table.insert(hash_of(name), std::move(copy)));
  }
  WarmOutcome outcome(const std::string& name) const {
    return warmer_.report_on(hash_of(name)).outcome;
  }

  NodeState shared_{warming_options(6), *net::parse_redis_url("redis://127.0.0.1:6379"), 1};
  Warmer warmer_{shared_};
};

TEST_F(WarmerTest, AKeyIsRetainedAndLoadedOnce) {
  EXPECT_EQ(begin("a", 60'000), "");
  ASSERT_NE(shared_.table.entry(hash_of("a")), nullptr);
  EXPECT_TRUE(shared_.table.entry(hash_of("a"))->retained());
  const auto asked = due(0);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked.front().worker, FillRequest::kNoWorker);
  EXPECT_TRUE(due(10).empty()) << "it is under way";
  EXPECT_EQ(outcome("a"), WarmOutcome::kLoading);
  fill("a", 1, 10'000);
  end(asked, FillOutcome::kKept, 20);
  EXPECT_EQ(outcome("a"), WarmOutcome::kLoaded);
  EXPECT_TRUE(due(5'000).empty());
}

// A write has dropped the copy, or it ended without a renewal.
TEST_F(WarmerTest, WhatHasNoCopyIsLoadedAgainOnceASecondAtMost) {
  begin("a", 60'000);
  end(due(0), FillOutcome::kKept, 10);
  EXPECT_TRUE(due(900).empty());
  EXPECT_EQ(due(1'000).size(), 1U);
}

TEST_F(WarmerTest, ACopyBehindItsFenceIsLoadedAgainBeforeSomebodyReadsIt) {
  begin("a", 60'000);
  const auto asked = due(0);
  fill("a", 1, 50'000);
  end(asked, FillOutcome::kKept, 10);
  EXPECT_TRUE(due(1'000).empty());
  shared_.fences.raise(hash_name("a", shared_.seed), at(1'100));
  EXPECT_EQ(due(1'200).size(), 1U);
}

TEST_F(WarmerTest, WhatFailedIsTriedAgainSoon) {
  begin("a", 60'000);
  end(due(0), FillOutcome::kFailed, 10);
  EXPECT_TRUE(due(50).empty());
  EXPECT_EQ(due(110).size(), 1U);
  EXPECT_EQ(outcome("a"), WarmOutcome::kLoading);
}

TEST_F(WarmerTest, WhatCannotBeLoadedStaysHot) {
  begin("a", 60'000);
  begin("b", 60'000);
  end(due(0), FillOutcome::kRefused, 10);
  EXPECT_EQ(outcome("a"), WarmOutcome::kNoString);
  EXPECT_TRUE(due(30'000).empty()) << "its readers fill it";
  EXPECT_TRUE(holds("a"));
}

TEST_F(WarmerTest, TheOutcomeSaysWhatTheServerSaid) {
  begin("a", 60'000);
  end(due(0), FillOutcome::kKeptNil, 10);
  EXPECT_EQ(outcome("a"), WarmOutcome::kMissing);
  begin("b", 60'000);
  end(due(10), FillOutcome::kTooBig, 20);
  EXPECT_EQ(outcome("b"), WarmOutcome::kTooBig);
}

TEST_F(WarmerTest, LetGoWhenTheLastOfItsTimesIsOver) {
  begin("a", 10'000);
  begin("a", 30'000, 1);
  begin("a", 20'000, 2);
  due(29'999);
  EXPECT_TRUE(holds("a"));
  EXPECT_EQ(warmer_.report_on(hash_of("a")).until, at(30'000));
  warmer_.take_changes();
  due(30'000);
  EXPECT_FALSE(holds("a"));
  EXPECT_FALSE(shared_.table.entry(hash_of("a"))->retained());
  const auto turns = warmer_.take_changes();
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_FALSE(turns.front().begun);
}

TEST_F(WarmerTest, TheEndOfOneSourceLeavesTheOthers) {
  begin("a", 30'000, 1);
  begin("a", 20'000);
  begin("b", 30'000, 1);
  warmer_.end_source(1);
  EXPECT_TRUE(holds("a"));
  EXPECT_FALSE(holds("b"));
}

TEST_F(WarmerTest, EndedByHandWhateverBeganIt) {
  begin("a", 30'000, 1);
  EXPECT_TRUE(warmer_.end({"a", 0}));
  EXPECT_FALSE(holds("a"));
  EXPECT_FALSE(warmer_.end({"a", 0}));
}

TEST_F(WarmerTest, NoMoreKeysThanTheirShare) {
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(begin(key, 60'000), "");
  EXPECT_EQ(begin("d", 60'000), "warmed keys use up cache.warm-share of cache.maximum-size (3)");
  EXPECT_FALSE(holds("d"));
  EXPECT_EQ(begin("a", 90'000), "") << "one that is there already";
}

TEST_F(WarmerTest, AKeyWithoutRoomForItsCopyIsNotWarmed) {
  begin("a", 60'000);
  end(due(0), FillOutcome::kNoRoom, 10);
  EXPECT_FALSE(holds("a"));
  EXPECT_EQ(warmer_.take_changes().back().why,
            "warmed keys use up cache.warm-share of cache.maximum-bytes");
}

TEST_F(WarmerTest, AKeyOfADatabaseThatIsNotThereIsLetGo) {
  begin("a", 60'000);
  for (const FillRequest& each : due(0))
    warmer_.filled(each, FillOutcome::kNoDatabase, at(10), "the server refuses database 99: no");
  EXPECT_FALSE(holds("a"));
  EXPECT_EQ(warmer_.take_changes().back().why, "the server refuses database 99: no");
  EXPECT_TRUE(due(5'000).empty());
}

TEST_F(WarmerTest, NotAtLevelOff) { EXPECT_EQ(begin("off:1", 60'000), "its level is off"); }

TEST_F(WarmerTest, NothingIsAskedOfAServerThatIsAway) {
  begin("a", 60'000);
  shared_.proof.set_up(false);
  EXPECT_TRUE(due(0).empty());
  shared_.proof.set_up(true);
  EXPECT_EQ(due(10).size(), 1U);
}

}  // namespace
}  // namespace heatsink::copies
