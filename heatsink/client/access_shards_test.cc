// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/access_shards.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr Nanos kLater = AccessShards::kLogAgeMax + Nanos(1);

detect::Access access(std::string_view key) {
  return {.hash = in_db(hash_name(key, 1), 0), .key = key};
}

detect::Summary merged(AccessShards& shards, TimePoint now) {
  return detect::merge(shards.summarize(now, 100, 0), 100);
}

TEST(AccessShards, CountWhatALogHeldOnceItIsFull) {
  AccessShards shards({}, 2);
  for (int i = 0; i < 64; ++i) shards.record(access("a"), kStart);
  const detect::Summary summary = merged(shards, kStart);
  ASSERT_EQ(summary.keys.size(), 1U);
  EXPECT_EQ(summary.keys[0].low, 64U);
}

TEST(AccessShards, TellTrafficOfAllShardsTogether) {
  AccessShards shards({}, 2);
  const auto use = [&] {
    for (int i = 0; i < 62; ++i) shards.record(access(i % 2 == 0 ? "a" : "b"), kStart);
    detect::Access other = access("a");
    other.local_hit = true;
    shards.record(other, kStart);
    other.local_hit = false;
    other.kind = detect::AccessKind::kWrite;
    shards.record(other, kStart);
    shards.record(access(std::string(100, 'x')), kStart);  // too long for a log
  };
  std::thread(use).join();  // its home is the other shard
  use();
  const AccessShards::Traffic traffic = shards.traffic(kStart);
  EXPECT_EQ(traffic.reads, 128U);
  EXPECT_EQ(traffic.writes, 2U);
  EXPECT_EQ(traffic.hits, 2U);
  EXPECT_NEAR(traffic.distinct_keys, 3, 0.01) << "each of them once";
  EXPECT_EQ(shards.traffic(kStart + std::chrono::minutes(1)).distinct_keys, 0);
  EXPECT_EQ(shards.traffic(kStart + std::chrono::minutes(1)).reads, 128U);
}

TEST(AccessShards, CountWhatALogHeldOnceItIsOld) {
  AccessShards shards({}, 2);
  shards.record(access("a"), kStart);
  EXPECT_EQ(merged(shards, kStart).requests, 0U);
  shards.record(access("a"), kStart + kLater);
  EXPECT_EQ(merged(shards, kStart + kLater).requests, 2U);
}

TEST(AccessShards, CountWhatAThreadLeavesWhenItEnds) {
  AccessShards shards({}, 2);
  std::thread([&] { shards.record(access("a"), kStart); }).join();
  EXPECT_EQ(merged(shards, kStart).requests, 1U);
}

TEST(AccessShards, CountNamesThatFitNoLogAtOnce) {
  AccessShards shards({}, 2);
  const std::string name(100, 'x');
  shards.record(access(name), kStart);
  const detect::Summary summary = merged(shards, kStart);
  ASSERT_EQ(summary.keys.size(), 1U);
  EXPECT_EQ(summary.keys[0].key, name);
}

TEST(AccessShards, TellTheirOwnAccessesApart) {
  AccessShards one({}, 1), other({}, 1);
  one.record(access("a"), kStart);
  other.record(access("b"), kStart);
  other.record(access("b"), kStart + kLater);
  one.record(access("a"), kStart + kLater);
  EXPECT_EQ(merged(one, kStart + kLater).keys[0].key, "a");
  EXPECT_EQ(merged(other, kStart + kLater).keys[0].key, "b");
}

TEST(AccessShards, AThreadOutlivesThem) {
  std::thread([] {
    for (int i = 0; i < 3; ++i) {
      AccessShards shards({}, 1);
      shards.record(access("a"), kStart);
      shards.record(access("a"), kStart + kLater);
      EXPECT_EQ(merged(shards, kStart + kLater).requests, 2U) << "none of those before them";
      shards.record(access("a"), kStart + kLater);  // still in the thread's log when the shards end
    }
  }).join();
}

TEST(AccessShards, LoseNothingOfManyThreads) {
  AccessShards shards({}, 2);
  constexpr int kThreads = 6, kEach = 10'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) shards.record(access(k % 4 == 0 ? "cold" : "hot"), kStart);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const detect::Summary summary = merged(shards, kStart);
  EXPECT_EQ(summary.requests, static_cast<std::uint64_t>(kThreads * kEach));
  ASSERT_EQ(summary.keys.size(), 2U);
  EXPECT_EQ(summary.keys[0].key, "hot");
  EXPECT_EQ(summary.keys[0].low, static_cast<std::uint64_t>(kThreads * kEach * 3 / 4));
}

TEST(AccessShards, SayWhenAKeyIsUrgent) {
  AccessShards shards({.urgent_count = 100}, 2);  // 50 in each
  bool is_urgent = false;
  for (int i = 0; i < 64; ++i) is_urgent |= shards.record(access("a"), kStart);
  EXPECT_TRUE(is_urgent);
}

// With room for 512 copies all keys are sampled.
TEST(AccessShards, SampleReadsWithOrWithoutACopy) {
  const auto admission = std::make_shared<admit::AdmissionState>(512);
  AccessShards shards({}, 2, admission);
  detect::Access hit = access("a"), write = access("b");
  hit.local_hit = true;
  write.kind = detect::AccessKind::kWrite;
  const std::string name(100, 'x');
  detect::Access long_write = access(name);
  long_write.kind = detect::AccessKind::kWrite;
  shards.record(long_write, kStart);
  shards.record(access(name), kStart);
  shards.record(hit, kStart);
  shards.record(write, kStart);
  shards.record(access("c"), kStart + kLater);
  std::vector<KeyHash> sampled;
  for (const admit::SampledAccess& each : shards.take_sampled()) {
    EXPECT_FALSE(each.is_write);
    sampled.push_back(each.key);
  }
  const std::vector<KeyHash> reads = {access(name).hash, hit.hash, access("c").hash};
  EXPECT_EQ(sampled, reads);
  EXPECT_TRUE(shards.take_sampled().empty());
}

TEST(AccessShards, SampleHitsAndNothingElse) {
  AccessShards shards({}, 2, std::make_shared<admit::AdmissionState>(512));
  detect::Access hit = access("a");
  hit.local_hit = true;
  const std::string name(100, 'x');
  detect::Access long_hit = access(name);
  long_hit.local_hit = true;
  shards.record(long_hit, kStart);
  for (int i = 0; i < 10; ++i) {
    shards.record(hit, kStart);
    shards.record(access("b"), kStart);
  }
  shards.record(access("c"), kStart + kLater);
  std::vector<KeyHash> sampled;
  for (const admit::SampledHit& each : shards.take_sampled_hits()) {
    EXPECT_EQ(each.hits, 1U) << "so few are all taken";
    sampled.push_back(each.key);
  }
  std::vector<KeyHash> hits(10, hit.hash);
  hits.insert(hits.begin(), long_hit.hash);
  EXPECT_EQ(sampled, hits);
  EXPECT_TRUE(shards.take_sampled_hits().empty());
}

TEST(AccessShards, ASampleOfManyHitsStandsForAll) {
  AccessShards shards({}, 1, std::make_shared<admit::AdmissionState>(512));
  detect::Access hit = access("a");
  hit.local_hit = true;
  double sampled = 0;
  for (int turn = 0; turn < 100; ++turn) {
    for (int i = 0; i < 6400; ++i) shards.record(i % 4 == 0 ? hit : access("b"), kStart);
    for (const admit::SampledHit& each : shards.take_sampled_hits()) sampled += each.hits;
  }
  EXPECT_NEAR(sampled, 160'000, 16'000);
}

TEST(AccessShards, WithoutAnAdmissionNoHitIsSampled) {
  AccessShards shards({}, 1);
  detect::Access hit = access("a");
  hit.local_hit = true;
  for (int i = 0; i < 1000; ++i) shards.record(hit, kStart);
  EXPECT_TRUE(shards.take_sampled_hits().empty());
}

TEST(AccessShards, SayWhichReadEarnsACopy) {
  const auto admission = std::make_shared<admit::AdmissionState>(512);
  AccessShards shards({}, 2, admission);
  admission->publish(2, 1024, 0);
  EXPECT_FALSE(shards.earns_copy(access("a").hash));
  bool is_earned = false;  // by threads of different shards together
  std::thread([&] { is_earned = shards.earns_copy(access("a").hash); }).join();
  EXPECT_TRUE(is_earned);
  EXPECT_FALSE(shards.earns_copy(access("b").hash));
  EXPECT_EQ(shards.seldom_read(), 2U);
}

}  // namespace
}  // namespace heatsink::client
