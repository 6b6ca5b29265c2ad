// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/carry_over.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "heatsink/base/testing/times.h"
#include "heatsink/limit/limit.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

struct Moved {
  std::unique_ptr<Limiter> old;
  std::unique_ptr<Limiter> fresh;
  std::uint64_t left(TimePoint at = kStart) { return fresh->try_acquire(0, at).remaining; }
};

Moved moved(const LimiterOptions& from, std::uint64_t used, const LimiterOptions& to) {
  Moved out{make_limiter(from).value(), make_limiter(to).value()};
  for (std::uint64_t i = 0; i < used; ++i)
    EXPECT_TRUE(out.old->try_acquire(1, kStart).allowed) << i;
  CarryOver(from, to, kStart).move(*out.old, *out.fresh);
  return out;
}

void expect_about(Nanos wait, Nanos wanted) {
  EXPECT_LE(std::chrono::abs(wait - wanted), std::chrono::microseconds(1));
}

TEST(CarryOver, AnEmptyBucketStaysEmptyWhateverItsNewBurst) {
  const LimiterOptions slow{.rate = {10, 1s}, .burst = 10};
  for (const std::uint64_t burst : {1U, 5U, 10U, 1000U}) {
    Moved bucket = moved(slow, 10, {.rate = {100, 1s}, .burst = burst});
    EXPECT_EQ(bucket.left(), 0U) << burst;
    // ... and fills at the new rate.
    EXPECT_EQ(bucket.left(kStart + 50ms), std::min<std::uint64_t>(burst, 5)) << burst;
  }
}

TEST(CarryOver, ABucketKeepsItsTokensUpToTheNewBurst) {
  const LimiterOptions from{.rate = {10, 1s}, .burst = 10};
  EXPECT_EQ(moved(from, 3, {.rate = {20, 1s}, .burst = 20}).left(), 7U);
  EXPECT_EQ(moved(from, 3, {.rate = {20, 1s}, .burst = 5}).left(), 5U);
  EXPECT_EQ(moved(from, 0, {.rate = {20, 1s}, .burst = 5}).left(), 5U);
}

TEST(CarryOver, ABucketThatOwesTurnsStillOwesThem) {
  const LimiterOptions from{.rate = {10, 1s}, .burst = 2, .patience = 1s};
  Moved bucket = moved(from, 7, {.rate = {10, 1s}, .burst = 4, .patience = 1s});
  // 5 turns are promised: the next one comes after them.
  expect_about(bucket.fresh->try_acquire(1, kStart).wait, 600ms);
}

TEST(CarryOver, AWindowKeepsItsCount) {
  for (const Algorithm window : {Algorithm::kFixedWindow, Algorithm::kSlidingWindow}) {
    const LimiterOptions from{.algorithm = window, .rate = {10, 1s}};
    EXPECT_EQ(moved(from, 8, {.algorithm = window, .rate = {100, 1s}}).left(), 92U);
    EXPECT_EQ(moved(from, 8, {.algorithm = window, .rate = {5, 1s}}).left(), 0U);
    EXPECT_EQ(moved(from, 8, {.algorithm = window, .rate = {100, 10s}}).left(), 2U);
  }
}

TEST(CarryOver, ALongerQueueGetsNoPhantoms) {
  const LimiterOptions from{.algorithm = Algorithm::kLeakyBucket, .rate = {10, 1s}, .burst = 10};
  const LimiterOptions longer{.algorithm = Algorithm::kLeakyBucket, .rate = {10, 1s}, .burst = 50};
  EXPECT_EQ(moved(from, 0, longer).fresh->try_acquire(1, kStart).wait, Nanos(0));
  expect_about(moved(from, 4, longer).fresh->try_acquire(1, kStart).wait, 400ms);
}

TEST(CarryOver, AnotherAlgorithmAllowsNoMoreThanTheOldOneDid) {
  const LimiterOptions bucket{.rate = {10, 1s}, .burst = 10};
  const LimiterOptions window{.algorithm = Algorithm::kFixedWindow, .rate = {100, 1s}};
  EXPECT_EQ(moved(bucket, 7, window).left(), 3U);
  const LimiterOptions leaky{.algorithm = Algorithm::kLeakyBucket, .rate = {10, 1s}, .burst = 10};
  expect_about(moved(bucket, 10, leaky).fresh->try_acquire(1, kStart).wait, 100ms);
}

TEST(CarryOver, ATableKeepsEachKey) {
  const LimiterOptions from{.rate = {10, 1s}, .burst = 10};
  const LimiterOptions to{.rate = {20, 1s}, .burst = 20};
  LimiterTable old(from, 64);
  LimiterTable fresh(to, 128);
  ASSERT_TRUE(old.of(7, kStart).try_acquire(10, kStart).allowed);
  ASSERT_TRUE(old.of(0, kStart).try_acquire(4, kStart).allowed);
  fresh.carry_from(old, CarryOver(from, to, kStart), kStart);
  EXPECT_FALSE(fresh.of(7, kStart).try_acquire(1, kStart).allowed);
  ASSERT_NE(fresh.find(0), nullptr);
  EXPECT_EQ(fresh.find(0)->try_acquire(0, kStart).remaining, 6U);
  EXPECT_EQ(fresh.find(8), nullptr);
}

}  // namespace
}  // namespace heatsink::limit
