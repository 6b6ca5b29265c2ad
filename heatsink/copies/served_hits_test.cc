// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/served_hits.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

constexpr KeyHash kKey{7};

// Serves this many hits, and returns how many of them are audited.
int serve(ServedHits& hits, int times) {
  int audited = 0;
  for (int i = 0; i < times; ++i)
    if (hits.due() && hits.look(kKey, kStart)) ++audited;
  return audited;
}

double total(const std::vector<admit::SampledHit>& sampled) {
  double hits = 0;
  for (const admit::SampledHit& each : sampled) hits += each.hits;
  return hits;
}

TEST(ServedHits, BothPurposesHaveTheirPartOfTheHits) {
  ServedHits hits(AuditSampler(Share{0.01}, Nanos(0), 1), 100, 2);
  int audited = 0;
  double seen = 0;
  for (int turn = 0; turn < 100; ++turn) {
    audited += serve(hits, 10'000);
    seen += total(hits.take_sampled());
  }
  EXPECT_GT(audited, 9'500);
  EXPECT_LT(audited, 10'500);
  EXPECT_NEAR(seen, 1e6, 0.05 * 1e6);
}

// A turn ends between two picks: the hits since the last one still count for the audit.
TEST(ServedHits, ShortTurnsLoseNoAudits) {
  ServedHits hits(AuditSampler(Share{0.01}, Nanos(0), 1), 1, 2);
  int audited = 0;
  for (int turn = 0; turn < 100'000; ++turn) {
    audited += serve(hits, 10);
    static_cast<void>(hits.take_sampled());
  }
  EXPECT_GT(audited, 9'500);
  EXPECT_LT(audited, 10'500);
}

TEST(ServedHits, WithoutAuditsTheEstimateIsThere) {
  ServedHits hits(AuditSampler(Share{0}, Nanos(0), 1), 100, 2);
  EXPECT_EQ(serve(hits, 50), 0);
  const std::vector<admit::SampledHit> sampled = hits.take_sampled();
  ASSERT_EQ(sampled.size(), 50U);
  EXPECT_EQ(sampled[0].key, kKey);
  EXPECT_EQ(total(sampled), 50);
}

TEST(ServedHits, WithoutTheEstimateAuditsAreThere) {
  ServedHits hits(AuditSampler(Share{1}, Nanos(0), 1), 0, 2);
  EXPECT_EQ(serve(hits, 50), 50);
  EXPECT_TRUE(hits.take_sampled().empty());
}

TEST(ServedHits, OffNoHitIsLookedAt) {
  ServedHits hits(AuditSampler(Share{0}, Nanos(0), 1), 0, 2);
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(hits.due());
}

}  // namespace
}  // namespace heatsink::copies
