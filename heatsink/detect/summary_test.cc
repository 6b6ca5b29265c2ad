// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

KeyCount key_count(std::uint64_t hash, std::uint64_t low, std::uint64_t high) {
  KeyCount key;
  key.hash = {hash};
  key.key = "k" + std::to_string(hash);
  key.low = low;
  key.high = high;
  key.reads = low;
  return key;
}

auto fields(const KeyCount& key) {
  return std::tie(key.hash.value, key.key, key.db, key.key_truncated, key.low, key.high, key.reads,
                  key.writes, key.hits, key.bytes);
}

void expect_same(const Summary& a, const Summary& b) {
  EXPECT_EQ(a.at, b.at);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.covered, b.covered);
  EXPECT_EQ(std::tie(a.requests, a.reads, a.writes, a.hits, a.bytes, a.absent_max),
            std::tie(b.requests, b.reads, b.writes, b.hits, b.bytes, b.absent_max));
  ASSERT_EQ(a.keys.size(), b.keys.size());
  for (std::size_t i = 0; i < a.keys.size(); ++i) EXPECT_EQ(fields(a.keys[i]), fields(b.keys[i]));
}

// Shards and what each key truly had in them.
struct Cluster {
  std::vector<Summary> shards;
  std::map<std::uint64_t, std::uint64_t> truth;
};

Cluster random_cluster(std::mt19937_64& random) {
  Cluster cluster;
  for (std::size_t shard = 0, shards = 1 + random() % 5; shard < shards; ++shard) {
    Summary summary;
    summary.at = TimePoint(seconds(random() % 100));
    summary.window = seconds(10);
    summary.covered = seconds(random() % 11);
    summary.absent_max = random() % 20;
    for (std::uint64_t hash = 1; hash <= 40; ++hash) {
      const bool listed = random() % 2 == 0;
      const std::uint64_t count = listed ? 1 + random() % 100 : random() % (summary.absent_max + 1);
      cluster.truth[hash] += count;
      summary.requests += count;
      summary.reads += count;
      if (!listed) continue;
      KeyCount key = key_count(hash, count - random() % count, count + random() % 10);
      key.writes = random() % (key.low + 1);
      key.reads = key.low - key.writes;
      key.key_truncated = random() % 3 == 0;
      if (key.key_truncated) key.key.pop_back();
      summary.keys.push_back(key);
    }
    cluster.shards.push_back(summary);
  }
  return cluster;
}

TEST(Merge, TheTruthStaysWithinTheBoundsHoweverItIsCut) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const Cluster cluster = random_cluster(random);
    const Summary merged = merge(cluster.shards, random() % 50);
    std::map<std::uint64_t, KeyCount> listed;
    for (const KeyCount& key : merged.keys) listed[key.hash.value] = key;
    for (const auto& [hash, truth] : cluster.truth) {
      if (const auto found = listed.find(hash); found != listed.end()) {
        ASSERT_LE(found->second.low, truth);
        ASSERT_GE(found->second.high, truth);
        ASSERT_EQ(found->second.reads + found->second.writes, found->second.low);
      } else {
        ASSERT_LE(truth, merged.absent_max);
      }
    }
  }
}

TEST(Merge, AnyOrderGivesTheSame) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    Cluster cluster = random_cluster(random);
    const std::size_t keys_max = random() % 50;
    const Summary merged = merge(cluster.shards, keys_max);
    std::shuffle(cluster.shards.begin(), cluster.shards.end(), random);
    expect_same(merged, merge(cluster.shards, keys_max));
  }
}

TEST(Merge, AnyGroupingGivesTheSameWhileNothingIsCut) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const Cluster cluster = random_cluster(random);
    Summary folded;
    for (const Summary& shard : cluster.shards) folded = merge(std::vector{folded, shard}, 1000);
    expect_same(merge(cluster.shards, 1000), folded);
  }
}

TEST(Merge, AnAbsentKeyMayHaveHadWhatTheShardDidNotList) {
  Summary a, b;
  a.keys = {key_count(1, 100, 110)};
  a.absent_max = 3;
  b.keys = {key_count(2, 50, 50)};
  b.absent_max = 7;
  const Summary merged = merge(std::vector{a, b}, 10);
  ASSERT_EQ(merged.keys.size(), 2u);
  EXPECT_EQ(merged.keys[0].low, 100u);
  EXPECT_EQ(merged.keys[0].high, 117u);
  EXPECT_EQ(merged.keys[1].high, 53u);
  EXPECT_EQ(merged.absent_max, 10u);
  EXPECT_EQ(merge(std::vector{a, b}, 1).absent_max, 53u);
}

TEST(Merge, TheBestKnownNameWins) {
  Summary a, b;
  a.keys = {key_count(1, 5, 5)};
  a.keys[0].key = "long-na";
  a.keys[0].key_truncated = true;
  b.keys = {key_count(1, 5, 5)};
  b.keys[0].key = "long-name";
  for (const auto& shards : {std::vector{a, b}, std::vector{b, a}}) {
    EXPECT_EQ(merge(shards, 10).keys[0].key, "long-name");
    EXPECT_FALSE(merge(shards, 10).keys[0].key_truncated);
  }
}

TEST(Merge, OfNothingIsNothing) {
  const Summary merged = merge({}, 10);
  EXPECT_EQ(merged.requests, 0u);
  EXPECT_TRUE(merged.keys.empty());
}

}  // namespace
}  // namespace heatsink::detect
