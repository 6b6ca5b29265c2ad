// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/hot_keys.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using Kind = detect::Change::Kind;

constexpr std::uint64_t kJudgeSeed = 1;

policy::ProxyOptions judge_options(double hot_qps) {
  policy::ProxyOptions options;
  options.workers = 2;
  options.hot_qps = hot_qps;
  options.warm_qps = hot_qps / 2;
  return options;
}

class HotKeysTest : public testing::Test {
 protected:
  static KeyHash hash_of(const std::string& name) { return in_db(hash_name(name, kJudgeSeed), 0); }
  // A worker has counted so many reads of one key in its window, and of others that it does not
  // list.
  void count(std::size_t worker, const std::string& name, std::uint64_t reads,
             std::uint64_t absent_max = 0) {
    detect::Summary summary;
    summary.window = summary.covered = shared_.options().window;
    summary.at = at(counted_at_ms_);
    summary.covers_window = true;
    summary.requests = summary.reads = reads + absent_max;
    summary.absent_max = absent_max;
    detect::KeyCount key;
    key.hash = hash_of(name);
    key.key = name.substr(0, detect::kKeyBytesMax);
    key.key_truncated = name.size() > detect::kKeyBytesMax;
    key.low = key.high = key.reads = reads;
    summary.keys = {key};
    hot_keys_.take(worker, summary);
  }
  void set_hot_qps(double hot_qps) {
    shared_.publish(std::make_shared<const PolicySnapshot>(
        judge_options(hot_qps), redis::Credentials{}, shared_.shown, shared_.held().get()));
    hot_keys_.follow_policy();
  }

  int counted_at_ms_ = 0;
  NodeState shared_{judge_options(100), net::RedisUrl{}, kJudgeSeed};
  HotKeys hot_keys_{shared_};
};

TEST_F(HotKeysTest, AKeyIsHotByTheCountsOfAllWorkers) {
  count(0, "k", 600);
  EXPECT_TRUE(hot_keys_.judge(at(0)).empty() || !hot_keys_.is_hot(hash_of("k")));
  count(1, "k", 600);  // together 120/s in ten seconds
  const auto changes = hot_keys_.judge(at(0));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().kind, Kind::kPromote);
  EXPECT_EQ(changes.front().verdict.count.key, "k");
  EXPECT_TRUE(hot_keys_.is_hot(hash_of("k")));
  EXPECT_FALSE(hot_keys_.is_hot(hash_of("other")));
  EXPECT_EQ(hot_keys_.count(), 1U);
  EXPECT_DOUBLE_EQ(hot_keys_.accesses_rate(hot_keys_.verdicts().front()), 120);
  EXPECT_EQ(hot_keys_.name_of(hash_of("k")), "k");
}

TEST_F(HotKeysTest, WarmKeysDoNotCountAsHot) {
  count(0, "k", 700);
  static_cast<void>(hot_keys_.judge(at(0)));
  ASSERT_EQ(hot_keys_.verdicts().size(), 1U);
  EXPECT_EQ(hot_keys_.count(), 0U);
  EXPECT_FALSE(hot_keys_.is_hot(hash_of("k")));
}

TEST_F(HotKeysTest, OtherRulesDecideFromTheNextJudgingOn) {
  count(0, "k", 1200);
  static_cast<void>(hot_keys_.judge(at(0)));
  ASSERT_TRUE(hot_keys_.is_hot(hash_of("k")));
  set_hot_qps(1000);
  EXPECT_TRUE(hot_keys_.is_hot(hash_of("k"))) << "no judging yet";
  counted_at_ms_ = 60'000;
  count(0, "k", 1200);
  const auto changes = hot_keys_.judge(at(0));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().kind, Kind::kDemote);
  EXPECT_FALSE(hot_keys_.is_hot(hash_of("k")));
}

TEST_F(HotKeysTest, WhatWasSparedIsTheHitsAndWhatTheReliefsSpared) {
  detect::Verdict verdict;
  verdict.count.hash = hash_of("k");
  verdict.count.hits = 5;
  EXPECT_EQ(hot_keys_.spared(verdict, 10, at(0)), 5);
}

TEST_F(HotKeysTest, ProvesABoundOfAKeyThatIsNotListed) {
  count(0, "k", 700, 30);
  static_cast<void>(hot_keys_.judge(at(0)));
  const detect::Verdict cold = hot_keys_.cold_verdict("other", 0, at(7));
  EXPECT_EQ(cold.temperature, detect::Temperature::kCold);
  EXPECT_EQ(cold.count.low, 0U);
  EXPECT_EQ(cold.count.high, 30U);
  EXPECT_DOUBLE_EQ(cold.rate_high, 3);
  EXPECT_EQ(cold.since, at(7));
  EXPECT_EQ(cold.reason, "at most 3/s; a key is warm from 50/s");
  EXPECT_EQ(hot_keys_.cold_verdict("k", 0, at(7)).count.low, 700U) << "a listed one: as counted";
}

TEST_F(HotKeysTest, OnlyAWholeNameIsAName) {
  const std::string name(detect::kKeyBytesMax + 1, 'n');
  count(0, name, 2000);
  static_cast<void>(hot_keys_.judge(at(0)));
  EXPECT_TRUE(hot_keys_.is_hot(hash_of(name)));
  EXPECT_FALSE(hot_keys_.name_of(hash_of(name)).has_value());
}

}  // namespace
}  // namespace heatsink::copies
