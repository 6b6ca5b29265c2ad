// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "heatsink/detect/testing/random_summary.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

KeyCount key_count(std::uint64_t hash, std::uint64_t low, std::uint64_t high) {
  KeyCount key;
  key.hash = {hash};
  key.key = "k" + std::to_string(hash);
  key.low = low;
  key.high = high;
  key.reads = low;
  return key;
}

void expect_tallies_hold(const KeyCount& key, const TrueCount& truth) {
  ASSERT_LE(key.clients.size(), kTalliesMax);
  for (const Tally& tally : key.clients) {
    const std::uint64_t count =
        truth.clients.contains(tally.name) ? truth.clients.at(tally.name) : 0;
    ASSERT_LE(tally.low, count);
    ASSERT_GE(tally.high, count);
  }
}

TEST(Merge, TheTruthStaysWithinTheBoundsHoweverItIsGroupedAndCut) {
  ClusterMaker maker(1);
  for (int round = 0; round < 300; ++round) {
    const Cluster cluster = maker.make();
    const Summary merged = maker.in_random_groups(
        cluster.shards, [&](const auto& shards) { return merge(shards, 10 + maker.below(50)); });
    std::map<std::uint64_t, KeyCount> listed;
    for (const KeyCount& key : merged.keys) listed[key.hash.value] = key;
    for (const auto& [hash, truth] : cluster.truth) {
      if (const auto found = listed.find(hash); found != listed.end()) {
        ASSERT_LE(found->second.low, truth.count);
        ASSERT_GE(found->second.high, truth.count);
      } else {
        ASSERT_LE(truth.count, merged.absent_max);
      }
    }
  }
}

// Tallies may be cut on the way; the accesses of cut keys are no longer reported either.
TEST(Merge, SoDoClientsAmongTheAccessesSeen) {
  ClusterMaker maker(4);
  for (int round = 0; round < 300; ++round) {
    const Cluster cluster = maker.make();
    const Summary merged = maker.in_random_groups(
        cluster.shards, [](const auto& shards) { return merge(shards, 1000); });
    for (const KeyCount& key : merged.keys) {
      expect_tallies_hold(key, cluster.truth.at(key.hash.value));
    }
  }
}

TEST(Join, AnyOrderAndAnyGroupingGiveTheSame) {
  ClusterMaker maker(2);
  for (int round = 0; round < 300; ++round) {
    const Cluster cluster = maker.make();
    const Summary joined = join(cluster.shards);
    ASSERT_EQ(joined, maker.in_random_groups(cluster.shards, join));
    Summary cut_once = joined;
    cut(cut_once, 20);
    ASSERT_EQ(cut_once, merge(cluster.shards, 20));
  }
}

TEST(Join, LowNeverPassesHighWhateverTheNumbers) {
  std::mt19937_64 random(3);
  const auto any = [&] { return random() >> (random() % 64); };
  for (int round = 0; round < 1000; ++round) {
    std::vector<Summary> shards(1 + random() % 5);
    for (Summary& shard : shards) {
      shard.requests = shard.reads = kMost;
      shard.hits = any();
      shard.absent_max = any();
      for (std::uint64_t hash = 1; hash <= 3; ++hash) {
        if (random() % 3 == 0) continue;
        KeyCount key = key_count(hash, any(), 0);
        key.high = std::max(key.low, any());
        key.reads = key.writes = any();
        key.clients = {{"a", key.reads / 2, kMost}, {"b", key.reads / 4, key.reads}};
        shard.keys.push_back(key);
      }
    }
    const Summary joined = join(shards);
    ASSERT_LE(joined.hits, joined.reads);
    for (const KeyCount& key : joined.keys) {
      ASSERT_LE(key.low, key.high);
      for (const Tally& tally : key.clients) ASSERT_LE(tally.low, tally.high);
    }
  }
}

TEST(Join, SumsStopAtTheLargestNumber) {
  Summary a;
  a.requests = a.absent_max = kMost - 1;
  a.keys = {key_count(1, kMost - 1, kMost)};
  const Summary joined = join(std::vector{a, a, a});
  EXPECT_EQ(joined.requests, kMost);
  EXPECT_EQ(joined.absent_max, kMost);
  EXPECT_EQ(joined.keys[0].low, kMost);
  EXPECT_EQ(joined.keys[0].high, kMost);
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

TEST(Merge, AnAbsentClientMayHaveMadeTheAccessesThatNobodyIsToldFor) {
  Summary a, b;
  a.keys = {key_count(1, 100, 100)};
  a.keys[0].clients = {{"10.0.0.1", 70, 72}};
  b.keys = {key_count(1, 50, 50)};
  b.keys[0].clients = {{"10.0.0.2", 45, 45}};
  const KeyCount key = merge(std::vector{a, b}, 10).keys[0];
  ASSERT_EQ(key.clients.size(), 2u);
  EXPECT_EQ(key.clients[0], (Tally{"10.0.0.1", 70, 72 + 5}));
  EXPECT_EQ(key.clients[1], (Tally{"10.0.0.2", 45, 45 + 30}));
}

TEST(Merge, KeepsTheClientsSeenMostOften) {
  std::vector<Summary> shards(12);
  for (std::uint64_t i = 0; i < shards.size(); ++i) {
    shards[i].keys = {key_count(1, i + 1, i + 1)};
    shards[i].keys[0].clients = {{std::to_string(i), i + 1, i + 1}};
  }
  EXPECT_EQ(join(shards).keys[0].clients.size(), 12u);
  const std::vector<Tally> kept = merge(shards, 10).keys[0].clients;
  ASSERT_EQ(kept.size(), kTalliesMax);
  EXPECT_EQ(kept.front(), (Tally{"11", 12, 12}));
  EXPECT_EQ(kept.back(), (Tally{"4", 5, 5}));
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
  EXPECT_EQ(merge({}, 10), Summary{});
  EXPECT_EQ(join(std::vector<Summary>(3)), Summary{});
}

TEST(Merge, TheRateOfAUnionIsNeverTooHigh) {
  Summary young, old;
  young.window = old.window = seconds(10);
  young.covered = std::chrono::milliseconds(9100);
  old.covered = std::chrono::milliseconds(9900);
  young.covers_window = old.covers_window = true;
  EXPECT_DOUBLE_EQ(merge(std::vector{young, old}, 10).seconds(), 9.9);
}

TEST(Mergeable, AsksForTheSameWindowAndDimension) {
  Summary a, b;
  EXPECT_TRUE(mergeable(a, b).ok());
  a.window = seconds(10);
  b.dimension = Dimension::kBytes;
  EXPECT_TRUE(mergeable(a, b).ok());  // b was never filled
  b.window = seconds(10);
  EXPECT_NE(mergeable(a, b).error().message.find("bytes"), std::string::npos);
  b.dimension = Dimension::kRequests;
  EXPECT_TRUE(mergeable(a, b).ok());
  b.window = seconds(1);
  EXPECT_NE(mergeable(b, a).error().message.find("window"), std::string::npos);
}

}  // namespace
}  // namespace heatsink::detect
