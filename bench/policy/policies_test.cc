// SPDX-License-Identifier: Apache-2.0
// The policies of the bench, on requests whose outcome is known.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/policy/belady.h"
#include "bench/policy/earned.h"
#include "bench/policy/policies.h"
#include "bench/policy/references.h"
#include "bench/policy/thresholds.h"
#include "bench/policy/workload.h"
#include "heatsink/replay/replay.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kKeys = 1000;

struct Made {
  std::string name;
  std::unique_ptr<CopyPolicy> policy;
};

std::vector<Made> all_policies(std::size_t keys, std::size_t copies) {
  std::vector<Made> out;
  for (const PolicyRow& row : policies()) {
    out.push_back({std::string(row.name), row.make(keys, copies, 0)});
    if (row.knows_fill_cost)
      out.push_back({std::string(row.name) + ", 2 per fill", row.make(keys, copies, 2)});
  }
  return out;
}

bool hits(CopyPolicy& policy, std::uint32_t key) {
  return policy.read(replay::hash_of_key(key)).hit;
}

struct Sums {
  std::int64_t hits = 0;
  std::int64_t fills = 0;
};

Sums play(CopyPolicy& policy, const Workload& workload, const std::vector<bool>& writes) {
  Sums out;
  for (std::size_t i = 0; i < workload.requests.size(); ++i) {
    if (writes[i]) {
      policy.write(replay::hash_of_key(workload.requests[i]));
      continue;
    }
    const Outcome outcome = policy.read(replay::hash_of_key(workload.requests[i]));
    EXPECT_FALSE(outcome.hit && outcome.filled);
    out.hits += outcome.hit ? 1 : 0;
    out.fills += outcome.filled ? 1 : 0;
  }
  return out;
}

Workload zipf_workload() {
  for (const Shape& shape : shapes())
    if (shape.name == "zipf 0.9") return make_workload(shape, 60'000);
  return {};
}

TEST(KeyHash, GivesTheNumberBack) {
  for (const std::uint32_t number : {0U, 1U, 12'345'678U, UINT32_MAX})
    EXPECT_EQ(replay::key_of_hash(replay::hash_of_key(number)), number);
}

TEST(Policies, LruEvictsTheKeyReadLongestAgo) {
  const auto lru = make_lru(kKeys, 2);
  for (const std::uint32_t key : {1U, 2U, 1U, 3U}) lru->read(replay::hash_of_key(key));
  EXPECT_TRUE(hits(*lru, 1));
  EXPECT_FALSE(hits(*lru, 2));
}

TEST(Policies, SieveKeepsWhatWasReadAgain) {
  const auto sieve = make_sieve(kKeys, 3);
  for (const std::uint32_t key : {1U, 2U, 3U, 1U, 4U, 5U}) sieve->read(replay::hash_of_key(key));
  EXPECT_TRUE(hits(*sieve, 1));
  EXPECT_FALSE(hits(*sieve, 2));
}

TEST(Policies, S3FifoDoesNotLetAScanEvictPopularKeys) {
  const auto s3 = make_s3_fifo(kKeys, 20);
  for (int round = 0; round < 4; ++round)
    for (std::uint32_t key = 0; key < 10; ++key) s3->read(replay::hash_of_key(key));
  for (std::uint32_t key = 100; key < 400; ++key) s3->read(replay::hash_of_key(key));
  EXPECT_TRUE(hits(*s3, 0));
  EXPECT_TRUE(hits(*s3, 9));
}

TEST(Policies, TheFourthReadMakesTheCopy) {
  const auto policy = make_fourth_read(kKeys, 10);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(policy->read(replay::hash_of_key(7)).filled);
  EXPECT_TRUE(policy->read(replay::hash_of_key(7)).filled);
  EXPECT_TRUE(hits(*policy, 7));
}

TEST(Policies, AWriteEndsTheCopy) {
  for (const Made& made : all_policies(kKeys, 20)) {
    SCOPED_TRACE(made.name);
    for (int i = 0; i < 20; ++i) made.policy->read(replay::hash_of_key(5));
    ASSERT_TRUE(hits(*made.policy, 5));
    made.policy->write(replay::hash_of_key(5));
    EXPECT_EQ(made.policy->invalidated(), 1U);
    EXPECT_FALSE(hits(*made.policy, 5));
    made.policy->write(replay::hash_of_key(6));  // has no copy
    EXPECT_EQ(made.policy->invalidated(), 1U);
  }
}

TEST(Belady, KeepsTheCopyThatIsReadSoonest) {
  const Workload workload{"", {0, 1, 0, 1, 0}, 2};
  const OptimalCounts one = optimal(workload, std::vector<bool>(5), 1);
  EXPECT_EQ(one.hits, 2U);
  EXPECT_EQ(one.fills, 1U);
  EXPECT_EQ(optimal(workload, std::vector<bool>(5), 2).hits, 3U);
}

TEST(Belady, DoesNotKeepACopyUntilAWrite) {
  const Workload workload{"", {0, 0, 0, 0}, 1};
  const OptimalCounts counts = optimal(workload, {false, true, false, false}, 1);
  EXPECT_EQ(counts.hits, 1U);
  EXPECT_EQ(counts.fills, 1U);
}

TEST(Belady, IsBetterThanEveryPolicy) {
  const Workload workload = zipf_workload();
  const std::vector<bool> writes = draw_writes(workload.requests.size(), 0.1);
  const auto best = static_cast<std::int64_t>(optimal(workload, writes, 500).hits);
  for (const Made& made : all_policies(workload.keys, 500)) {
    SCOPED_TRACE(made.name);
    const Sums sums = play(*made.policy, workload, writes);
    EXPECT_GT(sums.hits, 0);
    EXPECT_LT(sums.hits, best);
  }
}

// One key takes half of the requests, all others come once.
Workload one_hot_key(std::size_t requests) {
  Workload out{"", std::vector<std::uint32_t>(requests), 1 + requests / 2};
  for (std::size_t i = 0; i < requests; i += 2)
    out.requests[i + 1] = static_cast<std::uint32_t>(1 + i / 2);
  return out;
}

TEST(Thresholds, CopyTheHotKeyOnly) {
  const Workload workload = one_hot_key(20'000);
  const std::array<std::size_t, 1> copies{10};
  const auto tried = try_thresholds(workload, std::vector<bool>(20'000), 2000, copies, 0);
  ASSERT_FALSE(tried.empty());
  const ThresholdResult& lowest = tried.front();
  EXPECT_EQ(lowest.fills, 1U);
  // Not before the access that reaches the threshold, nor at the fill after it.
  EXPECT_EQ(lowest.hits, 10'000U - lowest.threshold - 1);
}

TEST(Thresholds, FillAgainAfterAWriteAndAnExpiry) {
  const Workload workload = one_hot_key(20'000);
  const std::array<std::size_t, 1> copies{10};
  std::vector<bool> writes(20'000);
  writes[15'000] = true;  // of the hot key
  const auto written = try_thresholds(workload, writes, 2000, copies, 0);
  EXPECT_EQ(written.front().fills, 2U);
  EXPECT_EQ(written.front().invalidated, 1U);
  const auto expired = try_thresholds(workload, std::vector<bool>(20'000), 2000, copies, 5000);
  EXPECT_EQ(expired.front().fills, 4U);
}

TEST(Thresholds, GiveNoMoreCopiesThanThereMayBe) {
  Workload workload{"", std::vector<std::uint32_t>(40'000), 40};
  for (std::size_t i = 0; i < workload.requests.size(); ++i)
    workload.requests[i] = static_cast<std::uint32_t>(i % 40);
  const std::array<std::size_t, 2> copies{10, 40};
  const auto tried = try_thresholds(workload, std::vector<bool>(40'000), 2000, copies, 0);
  EXPECT_EQ(tried[0].fills, 10U);
  EXPECT_EQ(tried[1].fills, 40U);
}

TEST(Earned, MakesNoCopiesThatDoNotPay) {
  // Each key is read three times in a row, never again: even a copy at the first read costs more
  // than it saves.
  Workload workload{"", std::vector<std::uint32_t>(90'000), 30'000};
  for (std::size_t i = 0; i < workload.requests.size(); ++i)
    workload.requests[i] = static_cast<std::uint32_t>(i / 3);
  EarnedPolicy policy(workload.keys, 1000, 3);
  const Sums sums = play(policy, workload, std::vector<bool>(90'000));
  EXPECT_GE(sums.hits - 3 * sums.fills, -900);
}

TEST(Earned, MakesNoCopiesThatWritesEndAtOnce) {
  const Workload workload = zipf_workload();
  EarnedPolicy policy(workload.keys, 1000, 2);
  const Sums sums = play(policy, workload, draw_writes(workload.requests.size(), 0.5));
  EXPECT_GE(sums.hits - 2 * sums.fills, -300);
}

TEST(Earned, GainsMoreThanTheFourthReadWithWrites) {
  const Workload workload = zipf_workload();
  const std::vector<bool> writes = draw_writes(workload.requests.size(), 0.1);
  EarnedPolicy policy(workload.keys, 1000, 1);
  const Sums own = play(policy, workload, writes);
  const Sums fourth = play(*make_fourth_read(workload.keys, 1000), workload, writes);
  EXPECT_GT(own.hits - own.fills, fourth.hits - fourth.fills);
}

}  // namespace
}  // namespace heatsink::bench
