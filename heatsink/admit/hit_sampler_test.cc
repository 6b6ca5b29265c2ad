// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/hit_sampler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heatsink::admit {
namespace {

constexpr KeyHash kKey{7};

void hit(HitSampler& sampler, std::uint64_t hits) {
  for (std::uint64_t i = 0; i < hits; ++i)
    if (sampler.pass(1)) sampler.take(kKey);
}

std::uint64_t total(const std::vector<SampledHit>& sampled) {
  std::uint64_t hits = 0;
  for (const SampledHit& each : sampled) hits += each.hits;
  return hits;
}

TEST(HitSampler, AFewHitsAreAllTaken) {
  HitSampler sampler(100, 1);
  hit(sampler, 60);
  const std::vector<SampledHit> sampled = sampler.take_sampled();
  ASSERT_EQ(sampled.size(), 60U);
  for (const SampledHit& each : sampled) {
    EXPECT_EQ(each.hits, 1U);
    EXPECT_EQ(each.key, kKey);
  }
  EXPECT_TRUE(sampler.take_sampled().empty());
}

TEST(HitSampler, OfManyItTakesAboutPerTurnThatStandForAll) {
  HitSampler sampler(100, 1);
  hit(sampler, 50'000);
  static_cast<void>(sampler.take_sampled());
  std::uint64_t seen = 0, picks = 0;
  for (int turn = 0; turn < 100; ++turn) {
    hit(sampler, 50'000);
    const std::vector<SampledHit> sampled = sampler.take_sampled();
    EXPECT_LT(sampled.size(), 250U);
    picks += sampled.size();
    seen += total(sampled);
  }
  EXPECT_GT(picks, 5'000U);
  EXPECT_NEAR(static_cast<double>(seen), 5e6, 0.05 * 5e6);
}

// The first turn knows nothing yet, and must not cost a pick per hit.
TEST(HitSampler, ASuddenBurstIsBoundedAndCounted) {
  double seen = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    HitSampler sampler(100, seed);
    hit(sampler, 1'000'000);
    const std::vector<SampledHit> sampled = sampler.take_sampled();
    EXPECT_LE(sampled.size(), 1500U);
    EXPECT_LE(sampled.size(), sampler.sampled_max());
    seen += static_cast<double>(total(sampled));
  }
  EXPECT_NEAR(seen / 20, 1e6, 0.1 * 1e6);
}

TEST(HitSampler, AfterABurstItTakesAllAgain) {
  HitSampler sampler(100, 1);
  hit(sampler, 1'000'000);
  static_cast<void>(sampler.take_sampled());
  static_cast<void>(sampler.take_sampled());
  hit(sampler, 50);
  EXPECT_EQ(sampler.take_sampled().size(), 50U);
}

// Hits that come with a period would always, or never, meet every n-th one.
TEST(HitSampler, AKeyThatIsReadWithAPeriodHasItsPart) {
  HitSampler sampler(100, 1);
  double even = 0, all = 0;
  for (int turn = 0; turn < 200; ++turn) {
    for (std::uint64_t i = 0; i < 10'000; ++i)
      if (sampler.pass(1)) sampler.take(KeyHash{i % 2});
    for (const SampledHit& each : sampler.take_sampled()) {
      all += each.hits;
      if (each.key.value == 0) even += each.hits;
    }
  }
  EXPECT_NEAR(even / all, 0.5, 0.03);
}

TEST(HitSampler, HitsMayPassTogether) {
  HitSampler sampler(100, 1);
  for (std::uint64_t gone = 0; gone < 100'000;) {
    const std::uint64_t step = sampler.left();
    ASSERT_TRUE(sampler.pass(step));
    gone += step;
    sampler.skip();
  }
  EXPECT_TRUE(sampler.take_sampled().empty()) << "these were no hits";
  EXPECT_GT(sampler.left(), 1U) << "but the gap follows them";
}

TEST(HitSampler, OffTakesNone) {
  HitSampler sampler(0, 1);
  hit(sampler, 100'000);
  EXPECT_TRUE(sampler.take_sampled().empty());
}

}  // namespace
}  // namespace heatsink::admit
