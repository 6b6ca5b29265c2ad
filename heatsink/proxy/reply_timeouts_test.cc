// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/reply_timeouts.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kLimit = Millis(10);

TEST(ReplyTimeouts, SilentSinceTheCommand) {
  ReplyTimeouts watch;
  watch.begins(at(0));
  EXPECT_FALSE(watch.is_silent(at(10), kLimit));
  EXPECT_TRUE(watch.is_silent(at(11), kLimit));
}

TEST(ReplyTimeouts, EachStepBeginsItAnew) {
  ReplyTimeouts watch;
  watch.begins(at(0));
  for (int now = 9; now < 90; now += 9) {
    EXPECT_FALSE(watch.is_silent(at(now), kLimit));
    watch.steps(at(now));
  }
}

TEST(ReplyTimeouts, ACommandDoesNotSetTheClockBack) {
  ReplyTimeouts watch;
  watch.steps(at(5));
  watch.begins(at(4));
  EXPECT_FALSE(watch.is_silent(at(15), kLimit));
}

TEST(ReplyTimeouts, SmallStepsDoNotGoOnForEver) {
  EXPECT_FALSE(ReplyTimeouts::is_too_old(at(0), at(100), kLimit));
  EXPECT_TRUE(ReplyTimeouts::is_too_old(at(0), at(101), kLimit));
}

}  // namespace
}  // namespace heatsink::proxy
