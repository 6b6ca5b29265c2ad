// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scheduler.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::simulation {
namespace {

TEST(Scheduler, RunsInOrderOfTimeAndThenOfCalls) {
  Scheduler scheduler(1);
  std::string ran;
  scheduler.call_after(Millis(2), [&] { ran += 'c'; });
  scheduler.call_after(Millis(1), [&] {
    ran += 'a';
    scheduler.call_after(Nanos(0), [&] { ran += 'b'; });
  });
  scheduler.call_after(Millis(2), [&] { ran += 'd'; });
  scheduler.call_after(Millis(4), [&] { ran += 'e'; });
  const TimePoint begin = scheduler.now();
  scheduler.run_until(begin + Millis(3));
  EXPECT_EQ(ran, "abcd");
  EXPECT_EQ(scheduler.now(), begin + Millis(3));
}

TEST(Scheduler, DrawsTheSameNumbersFromTheSameSeed) {
  Scheduler one(7), same(7), other(8);
  const std::uint64_t first = one.random();
  EXPECT_EQ(first, same.random());
  EXPECT_NE(first, other.random());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(one.below(3), 3u);
    const Nanos between = one.between(Millis(1), Millis(2));
    EXPECT_GE(between, Millis(1));
    EXPECT_LE(between, Millis(2));
  }
}

}  // namespace
}  // namespace heatsink::simulation
