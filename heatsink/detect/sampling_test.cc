// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/sampling.h"

#include <gtest/gtest.h>

namespace heatsink::detect {
namespace {

constexpr TimePoint kFirstTurn{std::chrono::seconds(10)};

Sampler sampler_at(std::uint64_t rate, std::uint64_t lossless_per_second) {
  Sampler sampler(lossless_per_second, 1);
  sampler.move_to(kFirstTurn, 0);
  sampler.move_to(kFirstTurn + std::chrono::seconds(1), rate);
  return sampler;
}

TEST(Sampler, TakesAllUpToTheRateAndTheRightShareAbove) {
  EXPECT_EQ(sampler_at(1000, 1000).factor(), 1u);
  EXPECT_EQ(sampler_at(1001, 1000).factor(), 2u);
  EXPECT_EQ(sampler_at(2001, 1000).factor(), 4u);
  EXPECT_EQ(sampler_at(1'000'000'000, 1000).factor(), Sampler::kFactorMax);
  Sampler sampler = sampler_at(16'000, 1000);
  ASSERT_EQ(sampler.factor(), 16u);
  int taken = 0;
  for (int i = 0; i < 160'000; ++i) taken += sampler.takes() ? 1 : 0;
  EXPECT_NEAR(taken, 10'000, 500);
}

// A client that repeats itself with any period must not be able to hide between the samples.
TEST(Sampler, IsNoEveryNth) {
  for (const int period : {2, 8, 16}) {
    Sampler sampler = sampler_at(8'000, 1000);
    int taken = 0;
    for (int i = 0; i < 80'000; ++i) {
      const bool takes = sampler.takes();
      taken += takes && i % period == 0 ? 1 : 0;
    }
    EXPECT_NEAR(taken, 10'000.0 / period, 600.0 / period + 60);
  }
}

TEST(Sampler, SkipsHaveTheFactorAsTheirMean) {
  Sampler sampler(1000, 1);
  EXPECT_EQ(sampler.skip(1), 1u);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) sum += static_cast<double>(sampler.skip(64));
  EXPECT_NEAR(sum / 10'000, 64, 3);
}

TEST(SampleBounds, EncloseAndAreExactWithoutASample) {
  const SampleBounds exact(1, 1);
  EXPECT_EQ(exact.low(12), 12u);
  EXPECT_EQ(exact.high(12), 12u);
  const SampleBounds bounds(16, 1);
  EXPECT_EQ(bounds.low(0), 0u);
  EXPECT_GE(bounds.high(0), 214u);  // none of n is taken with (15/16)^n: 10^-6 at 214
  for (const std::uint64_t sampled : {160U, 1600U, 160'000U}) {
    EXPECT_LT(bounds.low(sampled), sampled);
    EXPECT_GT(bounds.high(sampled), sampled);
  }
  // sqrt(2 * 13.8 * 15 * 160000) = 8142, and a little.
  EXPECT_NEAR(static_cast<double>(bounds.high(160'000)), 168'500, 300);
}

}  // namespace
}  // namespace heatsink::detect
