// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/end_within.h"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include "apps/heatsink/verbs.h"

namespace heatsink::app {
namespace {

TEST(EndWithin, WhatDoesNotEndIsNotWaitedFor) {
  EXPECT_EXIT(
      {
        const EndWithin bound(Millis(5));
        while (true) pause();
      },
      ::testing::ExitedWithCode(kFailed), "does not end");
}

TEST(EndWithin, WhatEndsInTimeIsLeftAlone) {
  { const EndWithin bound(std::chrono::hours(1)); }
  itimerval left{};
  getitimer(ITIMER_REAL, &left);
  EXPECT_EQ(left.it_value.tv_sec, 0);
  EXPECT_EQ(left.it_value.tv_usec, 0);
}

}  // namespace
}  // namespace heatsink::app
