// SPDX-License-Identifier: Apache-2.0
// Many threads take from one limiter: never more than there is, and hardly less.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "heatsink/base/testing/times.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 4;

class Threads : public testing::TestWithParam<Algorithm> {
 protected:
  // Each thread asks for one at each of the times, all at their own speed.
  std::uint64_t passed(Limiter& limiter, Nanos step, int steps) {
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        std::uint64_t mine = 0;
        for (int i = 0; i < steps; ++i)
          mine += limiter.try_acquire(1, kStart + i * step).allowed ? 1U : 0U;
        sum += mine;
      });
    for (std::thread& thread : threads) thread.join();
    return sum;
  }
};

TEST_P(Threads, AtOneMomentExactlyTheLimitPasses) {
  auto limiter = make_limiter({.algorithm = GetParam(), .rate = {1000, 1s}, .burst = 1000}).value();
  EXPECT_EQ(passed(*limiter, 0ns, 1000), 1000U);
}

// Their clocks differ by as much as the scheduler makes them.
TEST_P(Threads, OverTimeNoMoreThanTheLimitPasses) {
  auto limiter = make_limiter({.algorithm = GetParam(), .rate = {100, 10ms}, .burst = 100}).value();
  constexpr int kSteps = 20'000;  // of 10 us: 0.2 s, in which 2000 become free
  const std::uint64_t all = passed(*limiter, 10us, kSteps);
  EXPECT_LE(all, 2000U + 100U);
  EXPECT_GE(all, 2000U / 2);
}

INSTANTIATE_TEST_SUITE_P(Limiters, Threads,
                         testing::Values(Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                         Algorithm::kLeakyBucket, Algorithm::kTokenBucket));

}  // namespace
}  // namespace heatsink::limit
