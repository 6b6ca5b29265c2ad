// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_within.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "apps/heatsink/process/exit_code.h"

namespace heatsink::app {
namespace {

TEST(EndWithin, WhatDoesNotEndIsNotWaitedFor) {
  EXPECT_EXIT(
      {
        const EndWithin bound(Millis(5));
        while (true) pause();
      },
      ::testing::ExitedWithCode(kFailed), "did not stop in time");
}

TEST(EndWithin, AStandardErrorOutputThatNobodyReadsIsNotWaitedFor) {
  EXPECT_EXIT(
      {
        int ends[2];
        const int good = pipe(ends) == 0 ? fcntl(ends[1], F_SETFL, O_NONBLOCK) : -1;
        const std::string junk(4096, 'x');
        while (good == 0 && write(ends[1], junk.data(), junk.size()) > 0) continue;
        fcntl(ends[1], F_SETFL, 0);
        dup2(ends[1], STDERR_FILENO);
        const EndWithin bound(Millis(5));
        for (;;) pause();  // EndWithin ends it
      },
      ::testing::ExitedWithCode(kFailed), "");
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
