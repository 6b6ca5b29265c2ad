// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

namespace heatsink::advice {
namespace {

using namespace std::chrono_literals;

constexpr ServerCosts kCosts{.read_us = 1, .write_us = 1, .push_us = 5, .fill_us = 8};

TEST(Effects, ServerTimeIsWhatItsCommandsTake) {
  EXPECT_DOUBLE_EQ(server_time({.reads_rate = 900, .writes_rate = 100}, kCosts), 1000);
}

// The server time of coherent copies, played event by event.
double played(const KeyTraffic& key, Nanos lifetime, double seconds) {
  std::mt19937_64 random(7);
  const double lasts = std::chrono::duration<double>(lifetime).count();
  std::vector<double> copy_until(key.holders, -1);
  std::exponential_distribution<double> gap(key.reads_rate + key.writes_rate);
  std::uniform_real_distribution<double> part(0, key.reads_rate + key.writes_rate);
  std::uniform_int_distribution<std::size_t> holder(0, key.holders - 1);
  std::exponential_distribution<double> life(1 / lasts);
  double time_us = 0;
  for (double now = gap(random); now < seconds; now += gap(random)) {
    if (part(random) < key.writes_rate) {
      time_us += kCosts.write_us;
      for (double& until : copy_until) {
        if (until > now) time_us += kCosts.push_us;
        until = -1;
      }
    } else if (double& until = copy_until[holder(random)]; until <= now) {
      time_us += kCosts.fill_us;
      until = now + life(random);
    }
  }
  return time_us / seconds;
}

TEST(Effects, CoherentCopiesCostWhatAPlayedOutKeyDoes) {
  for (const auto& [key, lifetime] : std::vector<std::pair<KeyTraffic, Nanos>>{
           {{.reads_rate = 5000, .writes_rate = 5}, 10s},
           {{.reads_rate = 500, .writes_rate = 50, .holders = 4}, 1s},
           {{.reads_rate = 100, .writes_rate = 400, .holders = 2}, 1s},
           {{.reads_rate = 20, .writes_rate = 0, .holders = 8}, 500ms}}) {
    const double before = server_time(key, kCosts);
    const double after = played(key, lifetime, 2000);
    const double expected = 1 - after / before;
    const double tolerance = 0.02 * std::max(1.0, after / before);
    EXPECT_NEAR(coherent_copies(key, lifetime, kCosts).key_removed, expected, tolerance)
        << key.reads_rate << " reads, " << key.writes_rate << " writes, " << key.holders;
  }
}

TEST(Effects, CopiesOfAWrittenKeyCostMoreThanTheySave) {
  const KeyTraffic key{.reads_rate = 1000, .writes_rate = 5000, .holders = 4};
  EXPECT_LT(coherent_copies(key, 10s, kCosts).key_removed, 0);
}

TEST(Effects, MoreHoldersFillMore) {
  KeyTraffic key{.reads_rate = 1000, .writes_rate = 10};
  const double one = coherent_copies(key, 10s, kCosts).key_removed;
  key.holders = 50;
  EXPECT_LT(coherent_copies(key, 10s, kCosts).key_removed, one);
}

TEST(Effects, NodesShareIsOfRequests) {
  const KeyTraffic key{.reads_rate = 1000, .node_rate = 4000};
  const Effect effect = aging_copies(key, 1s, kCosts);  // one fill for about 1000 reads
  EXPECT_NEAR(effect.node_removed, 0.25 * 0.999, 1e-4);
  EXPECT_NEAR(effect.key_removed, 0.999, 1e-4);
}

TEST(Effects, AgingCopiesHaveNoPushes) {
  const KeyTraffic key{.reads_rate = 1000, .writes_rate = 1000};
  EXPECT_NEAR(aging_copies(key, 1s, kCosts).key_removed, 0.5, 0.001);  // the writes are left
}

TEST(Effects, SplittingLeavesEachNodeItsPartOfReadsAndAllWrites) {
  EXPECT_DOUBLE_EQ(split({.reads_rate = 1000}, 4, kCosts).key_removed, 0.75);
  EXPECT_DOUBLE_EQ(split({.reads_rate = 500, .writes_rate = 500}, 4, kCosts).key_removed, 0.375);
  EXPECT_DOUBLE_EQ(split({.reads_rate = 1000}, 1, kCosts).key_removed, 0);
}

TEST(Effects, ReplicasTakeTheirPartOfReads) {
  EXPECT_DOUBLE_EQ(replica_reads({.reads_rate = 900}, 2, kCosts).key_removed, 2.0 / 3);
}

TEST(Effects, GatheredWritesAreOneAWindow) {
  EXPECT_NEAR(gathered_rate(3000, 2ms, 1), 500, 1);
  EXPECT_NEAR(gathered_rate(3000, 2ms, 2), 984, 1);  // each worker gathers for itself
  EXPECT_NEAR(gathered_rate(1, 2ms, 1), 1, 1e-3) << "a key that is written seldom pays nothing";
  EXPECT_EQ(gathered_rate(0, 2ms, 1), 0);
}

TEST(Effects, GatheredRateIsWhatAPlayedOutCounterGets) {
  std::mt19937_64 random(7);
  for (const double writes : {100.0, 500.0, 5000.0}) {
    std::exponential_distribution<double> gap(writes);
    double until = -1;  // of the window
    bool waiting = false;
    double sent = 0;
    for (double now = gap(random); now < 200; now += gap(random)) {
      for (; until <= now && waiting; until += 0.002) {
        ++sent;
        waiting = false;
      }
      if (until > now) {
        waiting = true;
        continue;
      }
      ++sent;
      until = now + 0.002;
    }
    EXPECT_NEAR(gathered_rate(writes, 2ms, 1), sent / 200, 0.03 * sent / 200) << writes;
  }
}

TEST(Effects, OnlyWritesThatCanBeGatheredAreSpared) {
  KeyTraffic key{.writes_rate = 3000};
  EXPECT_NEAR(gathered_writes(key, 2ms, kCosts).key_removed, 0.833, 0.001);
  key.use.gatherable = 0;
  EXPECT_DOUBLE_EQ(gathered_writes(key, 2ms, kCosts).key_removed, 0);
}

TEST(Effects, OfUnprovenReadsTheLimitReachesTheServer) {
  const KeyTraffic key{.reads_rate = 9000, .writes_rate = 500};
  const double coherent = coherent_copies(key, 10s, kCosts).key_removed;
  const double limited = unproven_reads(key, 600, 10s, kCosts).key_removed;
  EXPECT_GT(limited, coherent);
  EXPECT_NEAR(limited, 1 - (100 * (8 + 5) + 500) / 9500.0, 0.01);
}

TEST(Effects, WhatIsLeftIsWithoutHitsAndGatheredWrites) {
  KeyTraffic key{.reads_rate = 1000, .writes_rate = 3000};
  EXPECT_EQ(left_by(key).reads_rate, 1000);
  key.in_force = {.hit_ratio = 0.75, .coalesce = 2ms};
  EXPECT_DOUBLE_EQ(left_by(key).reads_rate, 250);
  EXPECT_NEAR(left_by(key).writes_rate, 500, 1);
}

TEST(Effects, ALimitLetsItsRatePass) {
  EXPECT_DOUBLE_EQ(limit({.reads_rate = 9000, .writes_rate = 1000}, 2500, kCosts).key_removed,
                   0.75);
  EXPECT_DOUBLE_EQ(limit({.reads_rate = 100}, 2500, kCosts).key_removed, 0);
}

TEST(Effects, NothingIsDividedByNothing) {
  const KeyTraffic none;
  for (const Effect& effect :
       {coherent_copies(none, 1s, kCosts), aging_copies(none, 1s, kCosts), split(none, 2, kCosts),
        replica_reads(none, 1, kCosts), limit(none, 0, kCosts)}) {
    EXPECT_EQ(effect.key_removed, 0);
    EXPECT_EQ(effect.node_removed, 0);
  }
}

TEST(Effects, MemoryIsTheValueAndItsEntry) {
  const KeyTraffic key{.reads_rate = 1, .value = Bytes{1000}};
  EXPECT_EQ(coherent_copies(key, 1s, kCosts).memory, Bytes{1330});
  EXPECT_EQ(split(key, 2, kCosts).memory, Bytes{1000});
}

}  // namespace
}  // namespace heatsink::advice
