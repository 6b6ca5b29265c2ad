// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heatsink::heat {
namespace {

TEST(Scale, NothingIsNothing) {
  EXPECT_EQ(code_of(0), 0);
  EXPECT_EQ(code_of(-3), 0);
  EXPECT_EQ(code_of(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(rate_of(0), 0);
}

TEST(Scale, WhatIsThereIsNeverNothing) {
  EXPECT_EQ(code_of(0.001), 1);
  EXPECT_EQ(code_of(1), 1);
  EXPECT_EQ(rate_of(1), 1);
}

TEST(Scale, ACodeIsWithinThreePercentOfItsRates) {
  for (double rate = 1; rate < 2.3e6; rate *= 1.0031) {
    const double shown = rate_of(code_of(rate));
    EXPECT_NEAR(shown / rate, 1, 0.03) << rate;
  }
}

TEST(Scale, TwelveCodesDoubleTheRate) {
  EXPECT_DOUBLE_EQ(rate_of(13), 2);
  EXPECT_DOUBLE_EQ(rate_of(25), 4);
}

TEST(Scale, WhatIsAboveTheScaleHasTheLastCode) {
  EXPECT_EQ(code_of(1e12), 255);
  EXPECT_EQ(code_of(std::numeric_limits<double>::infinity()), 255);
  EXPECT_GT(rate_of(255), 2.3e6);
}

TEST(Scale, EveryCodeComesBack) {
  for (int i = 0; i < 256; ++i) {
    const auto code = static_cast<RateCode>(i);
    EXPECT_EQ(code_of(rate_of(code)), code);
    EXPECT_EQ(bytes_code(bytes_of(code)), code);
  }
}

TEST(Scale, ACodeOfBytesIsWithinFiveHundredthsFromOneByteToGigabytes) {
  for (double bytes = 1; bytes < 3.5e9; bytes *= 1.0041)
    EXPECT_NEAR(bytes_of(bytes_code(bytes)) / bytes, 1, 0.045) << bytes;
  EXPECT_EQ(bytes_code(0), 0);
  EXPECT_EQ(bytes_code(0.2), 1);
  EXPECT_EQ(bytes_code(1e13), 255);
  EXPECT_GT(bytes_of(255), 3.3 * 1024 * 1024 * 1024);
}

}  // namespace
}  // namespace heatsink::heat
