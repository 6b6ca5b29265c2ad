// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fill_pace.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

constexpr Nanos kPaceSpan = Millis(50);

TimePoint pace_time(Nanos since_start) { return TimePoint(std::chrono::hours(1) + since_start); }

TEST(FillPaceTest, SeldomFillsFindNoCompany) {
  FillPace pace(kPaceSpan);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(pace.note(pace_time(i * kPaceSpan / 3))) << i;
}

TEST(FillPaceTest, ABurstIsOftenFromTheFifthOn) {
  FillPace pace(kPaceSpan);
  for (std::uint32_t i = 0; i < FillPace::kOften; ++i)
    EXPECT_FALSE(pace.note(pace_time(Nanos(0)))) << i;
  EXPECT_TRUE(pace.note(pace_time(Nanos(0))));
}

TEST(FillPaceTest, WhatIsOftenStaysSoForASpan) {
  FillPace pace(kPaceSpan);
  for (std::uint32_t i = 0; i < FillPace::kOften; ++i) pace.note(pace_time(Nanos(0)));
  EXPECT_TRUE(pace.note(pace_time(kPaceSpan))) << "as in the span before";
  EXPECT_FALSE(pace.note(pace_time(2 * kPaceSpan))) << "there was one";
  EXPECT_FALSE(pace.note(pace_time(std::chrono::hours(1))));
}

TEST(FillPaceTest, AfterAPauseItCountsAnew) {
  FillPace pace(kPaceSpan);
  for (std::uint32_t i = 0; i < 2 * FillPace::kOften; ++i) pace.note(pace_time(Nanos(0)));
  EXPECT_FALSE(pace.note(pace_time(3 * kPaceSpan)));
}

}  // namespace
}  // namespace heatsink::copies
