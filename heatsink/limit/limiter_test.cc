// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "heatsink/base/testing/times.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

constexpr Algorithm kAll[] = {Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                              Algorithm::kLeakyBucket, Algorithm::kTokenBucket};

TEST(MakeLimiter, EachHasItsName) {
  for (const Algorithm algorithm : kAll) EXPECT_EQ(algorithm_of(to_string(algorithm)), algorithm);
  EXPECT_EQ(algorithm_of("bucket"), std::nullopt);
}

TEST(MakeLimiter, EachLetsItsLimitPassFirst) {
  for (const Algorithm algorithm : kAll) {
    auto limiter = make_limiter({.algorithm = algorithm, .rate = {7, 1s}}).value();
    EXPECT_TRUE(limiter->try_acquire(7, kStart).allowed) << to_string(algorithm);
    EXPECT_FALSE(limiter->try_acquire(1, kStart).allowed) << to_string(algorithm);
  }
}

TEST(MakeLimiter, SlowBucketsHoldOne) {
  auto limiter = make_limiter({.rate = {1, 1h}}).value();
  EXPECT_TRUE(limiter->try_acquire(1, kStart).allowed);
  EXPECT_FALSE(limiter->try_acquire(1, kStart).allowed);
}

std::string refusal(const LimiterOptions& options) {
  const auto made = make_limiter(options);
  return made.ok() ? "" : made.error().message;
}

TEST(MakeLimiter, NamesTheBoundOfWhatItRefuses) {
  EXPECT_NE(refusal({.rate = {0, 1s}}).find("1 per day"), std::string::npos);
  EXPECT_NE(refusal({.rate = {1, 1s}, .burst = 40'000'000}).find("a year"), std::string::npos);
  EXPECT_NE(refusal({.algorithm = Algorithm::kSlidingWindow, .slots = 0}).find("1 to 64"),
            std::string::npos);
  EXPECT_NE(refusal({.algorithm = Algorithm::kSlidingWindow, .rate = {1ULL << 31U, 60s}})
                .find("2147483647"),
            std::string::npos);
}

// From the beginning of the clock on, and with times before it.
TEST(MakeLimiter, AnyTimeIsATime) {
  for (const Algorithm algorithm : kAll) {
    auto limiter = make_limiter({.algorithm = algorithm, .rate = {5, 1s}}).value();
    for (const TimePoint now : {TimePoint::min(), TimePoint(-1ns), TimePoint(0ns), TimePoint(1ns)})
      limiter->try_acquire(1, now);
    EXPECT_TRUE(limiter->try_acquire(1, TimePoint(10s)).allowed) << to_string(algorithm);
  }
}

}  // namespace
}  // namespace heatsink::limit
