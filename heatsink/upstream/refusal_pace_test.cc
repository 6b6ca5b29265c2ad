// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/refusal_pace.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

constexpr std::uint32_t kAtOnce = RefusalPace::kAtOnce;

// Returns how many of `count` refusals wait.
std::uint32_t waits_of(RefusalPace& pace, std::uint32_t refusals, bool is_last) {
  std::uint32_t waits = 0;
  for (std::uint32_t i = 0; i < refusals; ++i) {
    if (pace.must_wait(is_last)) {
      EXPECT_TRUE(pace.waits());
      pace.waited();
      ++waits;
      EXPECT_FALSE(pace.must_wait(is_last)) << "it has waited";
    }
    EXPECT_FALSE(pace.waits());
    pace.refused();
  }
  return waits;
}

TEST(RefusalPaceTest, TheFirstAreToldAtOnce) {
  RefusalPace pace;
  EXPECT_EQ(waits_of(pace, kAtOnce, true), 0);
}

TEST(RefusalPaceTest, WhoWaitsForEachAnswerWaitsEachTime) {
  RefusalPace pace;
  waits_of(pace, kAtOnce, true);
  EXPECT_EQ(waits_of(pace, 1000, true), 1000);
}

TEST(RefusalPaceTest, APipelineWaitsEverySoOften) {
  RefusalPace pace;
  EXPECT_EQ(waits_of(pace, 100 * kAtOnce, false), 99);
}

TEST(RefusalPaceTest, AnyOtherRequestEndsTheRow) {
  RefusalPace pace;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(waits_of(pace, kAtOnce, true), 0);
    pace.passed();
  }
}

TEST(RefusalPaceTest, WhatIsLetThroughAfterItsWaitEndsTheRowToo) {
  RefusalPace pace;
  waits_of(pace, kAtOnce, true);
  ASSERT_TRUE(pace.must_wait(true));
  pace.waited();
  pace.passed();
  EXPECT_EQ(waits_of(pace, kAtOnce, true), 0);
}

}  // namespace
}  // namespace heatsink::proxy
