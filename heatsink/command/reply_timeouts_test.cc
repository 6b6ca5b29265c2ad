// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reply_timeouts.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kLimit = Millis(10);

TEST(ReplyTimeouts, SilentSinceTheCommand) {
  ReplyTimeouts timeouts;
  timeouts.command_sent(at(0));
  EXPECT_FALSE(timeouts.is_silent(at(10), kLimit));
  EXPECT_TRUE(timeouts.is_silent(at(11), kLimit));
}

TEST(ReplyTimeouts, EachStepBeginsItAnew) {
  ReplyTimeouts timeouts;
  timeouts.command_sent(at(0));
  for (int now = 9; now < 90; now += 9) {
    EXPECT_FALSE(timeouts.is_silent(at(now), kLimit));
    timeouts.progress(at(now));
  }
}

TEST(ReplyTimeouts, ACommandDoesNotSetTheClockBack) {
  ReplyTimeouts timeouts;
  timeouts.progress(at(5));
  timeouts.command_sent(at(4));
  EXPECT_FALSE(timeouts.is_silent(at(15), kLimit));
}

TEST(ReplyTimeouts, SmallStepsDoNotGoOnForEver) {
  EXPECT_FALSE(ReplyTimeouts::is_too_old(at(0), at(100), kLimit));
  EXPECT_TRUE(ReplyTimeouts::is_too_old(at(0), at(101), kLimit));
}

}  // namespace
}  // namespace heatsink::proxy
