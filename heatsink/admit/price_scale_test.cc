// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/price_scale.h"

#include <gtest/gtest.h>

namespace heatsink::admit {
namespace {

class PriceScaleTest : public testing::Test {
 protected:
  void work(int seconds, double used, double predicted) {
    for (int i = 0; i < seconds; ++i) scale_.note(used, predicted, 1);
  }
  PriceScale scale_;
};

TEST_F(PriceScaleTest, APriceIsBelievedUntilItIsMeasured) {
  EXPECT_EQ(scale_.value(), 1);
  work(1, 0.02 + 0.006, 0.002);
  EXPECT_NEAR(scale_.value(), 1, 0.01) << "hardly any work";
}

TEST_F(PriceScaleTest, FollowsWhatTheWorkTakes) {
  work(120, 0.02 + 0.3, 0.1);
  EXPECT_NEAR(scale_.value(), 3, 0.2);
  work(300, 0.02 + 0.05, 0.1);
  EXPECT_NEAR(scale_.value(), 0.5, 0.1);
}

// More than was believed, but there was work of all sizes.
TEST_F(PriceScaleTest, TimeWithoutSuchWorkIsLeftOut) {
  for (int i = 0; i < 120; ++i) {
    const double predicted = 0.02 + 0.01 * (i % 10);
    work(1, 0.06 + 2 * predicted, predicted);
  }
  EXPECT_NEAR(scale_.value(), 2, 0.25);
}

TEST_F(PriceScaleTest, IsMeasuredOnceTheWorkSaysMoreThanWhatIsBelieved) {
  EXPECT_FALSE(scale_.scale().is_measured);
  work(120, 0.02 + 0.002, 0.002);
  EXPECT_FALSE(scale_.scale().is_measured) << "hardly any work";
  work(3, 0.02 + 0.2, 0.1);
  EXPECT_TRUE(scale_.scale().is_measured);
  EXPECT_EQ(scale_.scale().value, scale_.value());
  PriceScale constant({.work_s = 0.02, .idle_s = 3e-5});
  for (int i = 0; i < 120; ++i) constant.note(0.3, -0.1, 1);
  EXPECT_FALSE(constant.scale().is_measured) << "nothing tells the work apart from the rest";
}

TEST_F(PriceScaleTest, FewFillsDoNotLookDear) {
  work(120, 0.05 + 0.002, 0.002);
  EXPECT_LT(scale_.value(), 1.2) << "and not 26";
}

TEST_F(PriceScaleTest, OneBusySecondChangesLittle) {
  work(60, 0.02 + 0.1, 0.1);
  work(1, 0.5, 0.1);
  EXPECT_LT(scale_.value(), 1.15);
}

TEST_F(PriceScaleTest, HasBounds) {
  work(200, 20, 0.1);
  EXPECT_EQ(scale_.value(), PriceScale::kMax);
  PriceScale none;
  for (int i = 0; i < 1000; ++i) none.note(0, 0.9, 1);
  EXPECT_EQ(none.value(), PriceScale::kMin);
  none.note(1, 1, 0);
  EXPECT_EQ(none.value(), PriceScale::kMin) << "no time has passed";
}

}  // namespace
}  // namespace heatsink::admit
