// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "heatsink/base/random.h"

namespace heatsink {
namespace {

std::vector<double> probabilities(std::size_t ranks, double exponent) {
  std::vector<double> out;
  double sum = 0;
  for (std::size_t k = 1; k <= ranks; ++k) {
    out.push_back(std::pow(static_cast<double>(k), -exponent));
    sum += out.back();
  }
  for (double& p : out) p /= sum;
  return out;
}

// Pearson's statistic of `draws` ranks against the exact distribution, with ranks expected less
// than ten times taken together.
double chi_square(std::size_t ranks, double exponent, int draws, double& degrees) {
  Random random(42);
  const Zipf zipf(ranks, exponent);
  std::vector<int> seen(ranks);
  for (int i = 0; i < draws; ++i) ++seen.at(zipf.rank(random));
  const std::vector<double> p = probabilities(ranks, exponent);
  double statistic = 0, rare_expected = 0, rare_seen = 0;
  degrees = -1;
  for (std::size_t k = 0; k < ranks; ++k) {
    const double expected = p[k] * draws;
    if (expected < 10) {
      rare_expected += expected;
      rare_seen += seen[k];
      continue;
    }
    statistic += (seen[k] - expected) * (seen[k] - expected) / expected;
    ++degrees;
  }
  if (rare_expected < 10) return statistic;
  ++degrees;
  return statistic + (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
}

TEST(Zipf, FollowsTheExactDistribution) {
  for (const double exponent : {0.0, 0.5, 0.99, 1.0, 1.01, 2.0, 5.0}) {
    for (const std::size_t ranks : {2U, 3U, 100U, 5000U}) {
      double degrees = 0;
      const double statistic = chi_square(ranks, exponent, 200'000, degrees);
      // Mean `degrees`, deviation sqrt(2 degrees); the seed is fixed, so this does not flicker.
      EXPECT_LT(statistic, degrees + 4 * std::sqrt(2 * degrees) + 4)
          << "exponent " << exponent << ", ranks " << ranks;
    }
  }
}

TEST(Zipf, OneRankIsAlwaysTheFirst) {
  Random random(1);
  const Zipf zipf(1, 0.99);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(zipf.rank(random), 0u);
}

TEST(Zipf, HugeNumbersOfRanksStayInside) {
  constexpr std::uint64_t kRanks = 1ULL << 40U;
  for (const double exponent : {0.0, 0.99, 1.0, 10.0}) {
    Random random(7);
    const Zipf zipf(kRanks, exponent);
    for (int i = 0; i < 10'000; ++i) ASSERT_LT(zipf.rank(random), kRanks);
  }
}

TEST(Zipf, TakesAnyGeneratorOf64Bits) {
  std::mt19937_64 random(1);
  const Zipf zipf(10, 2);
  int firsts = 0;
  for (int i = 0; i < 1000; ++i) firsts += zipf.rank(random) == 0 ? 1 : 0;
  EXPECT_NEAR(firsts, 645, 60);  // 1 / (1 + 1/4 + 1/9 + ... 1/100) of 1000
}

}  // namespace
}  // namespace heatsink
