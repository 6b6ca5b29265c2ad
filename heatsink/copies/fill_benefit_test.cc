// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fill_benefit.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class FillBenefitTest : public testing::Test {
 protected:
  // Fills until the filter refuses, at most 1000 times.
  std::uint32_t fills(TimePoint now, int hits_per_fill, std::uint32_t reads_to_pay = 1) {
    std::uint32_t count = 0;
    for (; count < 1000 && fill_benefit_.pays(kKey, now, reads_to_pay); ++count) {
      fill_benefit_.filled(kKey);
      for (int i = 0; i < hits_per_fill; ++i) fill_benefit_.hit(kKey);
    }
    return count;
  }

  static constexpr KeyHash kKey{5};
  FillBenefit fill_benefit_;
};

TEST_F(FillBenefitTest, FillsThatNobodyHitsEndSoonAndAreTriedAgain) {
  EXPECT_EQ(fills(at(Nanos(0)), 0), FillBenefit::kTrial);
  EXPECT_EQ(fills(at(FillBenefit::kWindow) - Nanos(1), 0), 0U);
  EXPECT_EQ(fills(at(FillBenefit::kWindow), 0), FillBenefit::kTrial);
}

TEST_F(FillBenefitTest, FillsThatAreHitGoOn) { EXPECT_EQ(fills(at(Nanos(0)), 1), 1000U); }

TEST_F(FillBenefitTest, AFillMayTakeSeveralHitsToPay) {
  EXPECT_EQ(fills(at(Nanos(0)), 3, 4), FillBenefit::kTrial);
  EXPECT_EQ(fills(at(FillBenefit::kWindow), 4, 4), 1000U);
}

TEST_F(FillBenefitTest, HitsMayComeLater) {
  fills(at(Nanos(0)), 0);
  for (std::uint32_t i = 0; i < FillBenefit::kTrial; ++i) fill_benefit_.hit(kKey);
  EXPECT_TRUE(fill_benefit_.pays(kKey, at(Nanos(1)), 1));
}

TEST_F(FillBenefitTest, AnotherKeyIsAnother) {
  fills(at(Nanos(0)), 0);
  EXPECT_TRUE(fill_benefit_.pays({6}, at(Nanos(0)), 1));
  fill_benefit_.hit({kKey.value + 1024});  // collides with kKey, so it does not count for it
  EXPECT_FALSE(fill_benefit_.pays(kKey, at(Nanos(0)), 1));
}

}  // namespace
}  // namespace heatsink::copies
