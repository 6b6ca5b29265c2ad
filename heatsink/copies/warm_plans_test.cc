// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warm_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heatsink::copies {
namespace {

using std::chrono::minutes;

// Both clocks begin at 19:54 UTC. "a" is warm from 19:55 to 20:30, "b" from 20:00 on.
class WarmPlansTest : public testing::Test, private WarmPlans::Searches {
 protected:
  static policy::WarmingOptions item(const std::string& key, const std::string& from) {
    policy::WarmingOptions out;
    out.key = key;
    out.from = from;
    out.until = "20:30";
    out.zone = "UTC";
    return out;
  }

  // Looks at this time after the beginning; `off`: the error of the wall clock.
  void look(Nanos after, Nanos off = Nanos(0)) {
    now_ = TimePoint(std::chrono::hours(1)) + after;
    const Nanos of_day = std::chrono::hours(19) + minutes(54) + after + off;
    plans_.look(WallTime(std::chrono::duration_cast<WallTime::duration>(of_day)), now_, warmer_,
                *this);
    warmer_.due(now_);
  }
  KeyHash hash_of(const std::string& key) const { return warmer_.hash_of({key, 0}); }
  bool warm(const std::string& key) const { return warmer_.holds(hash_of(key)); }

  static policy::WarmingOptions pattern_item() {
    policy::WarmingOptions out = item("", "20:10");
    out.pattern = "p:*";
    out.search_again = minutes(1);
    return out;
  }
  void begin(const PatternSearch::Order& order, TimePoint /*now*/) override {
    begun_.push_back(order);
  }
  void end_source(std::uint32_t source) override { ended_.push_back(source); }

  std::vector<PatternSearch::Order> begun_;
  std::vector<std::uint32_t> ended_;
  TimePoint now_{};
  NodeState shared_{policy::ProxyOptions{}, *net::parse_redis_url("redis://127.0.0.1:6379"), 1};
  Warmer warmer_{shared_};
  WarmPlans plans_{{item("a", "19:55"), item("b", "20:00"), pattern_item()}};
};

TEST_F(WarmPlansTest, KeysComeAndGoWithTheClock) {
  look(minutes(0));
  EXPECT_FALSE(warm("a"));
  look(minutes(1));
  EXPECT_TRUE(warm("a"));
  EXPECT_FALSE(warm("b"));
  EXPECT_EQ(warmer_.report_on(hash_of("a")).until - now_, minutes(35));
  look(minutes(6));
  EXPECT_TRUE(warm("b"));
  look(minutes(36));
  EXPECT_FALSE(warm("a"));
  EXPECT_FALSE(warm("b"));
}

TEST_F(WarmPlansTest, WhatSomebodyHasEndedStaysEnded) {
  look(minutes(1));
  warmer_.end({"a", 0});
  look(minutes(2));
  EXPECT_FALSE(warm("a"));
}

TEST_F(WarmPlansTest, TheWallClockMayJump) {
  look(minutes(1));
  look(minutes(2), minutes(40));
  EXPECT_FALSE(warm("a")) << "the clock says that it is over";
  look(minutes(3));
  EXPECT_TRUE(warm("a"));
  look(minutes(4), -minutes(2));  // it ends later than expected
  EXPECT_EQ(warmer_.report_on(hash_of("a")).until - now_, minutes(34));
}

TEST_F(WarmPlansTest, APatternIsSearchedForWhenItsWindowOpens) {
  look(minutes(10));
  EXPECT_TRUE(begun_.empty());
  look(minutes(16));
  ASSERT_EQ(begun_.size(), 1U);
  EXPECT_EQ(begun_[0].pattern.glob, "p:*");
  EXPECT_EQ(begun_[0].source, 3U);
  EXPECT_EQ(begun_[0].until - now_, minutes(20));
  EXPECT_EQ(begun_[0].again_after, minutes(1));
  look(minutes(20));
  EXPECT_EQ(begun_.size(), 1U) << "the search itself looks again";
  ended_.clear();
  look(minutes(36));
  EXPECT_NE(std::find(ended_.begin(), ended_.end(), 3U), ended_.end());
}

TEST_F(WarmPlansTest, AProxyThatStartsInAWindowBeginsAtOnce) {
  look(minutes(20));
  EXPECT_TRUE(warm("a"));
  EXPECT_TRUE(warm("b"));
}

}  // namespace
}  // namespace heatsink::copies
