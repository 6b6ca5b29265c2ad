// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/payoff.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class PayoffTest : public testing::Test {
 protected:
  // Fills until it is told to stop, at most 1000.
  std::uint32_t fills(TimePoint now, int hits_per_fill) {
    std::uint32_t count = 0;
    for (; count < 1000 && payoff_.pays(kKey, now); ++count) {
      payoff_.filled(kKey);
      for (int i = 0; i < hits_per_fill; ++i) payoff_.hit(kKey);
    }
    return count;
  }

  static constexpr KeyHash kKey{5};
  Payoff payoff_;
};

TEST_F(PayoffTest, FillsThatNobodyHitsEndSoonAndAreTriedAgain) {
  EXPECT_EQ(fills(at(Nanos(0)), 0), Payoff::kTrial);
  EXPECT_EQ(fills(at(Payoff::kWindow) - Nanos(1), 0), 0U);
  EXPECT_EQ(fills(at(Payoff::kWindow), 0), Payoff::kTrial);
}

TEST_F(PayoffTest, FillsThatAreHitGoOn) { EXPECT_EQ(fills(at(Nanos(0)), 1), 1000U); }

TEST_F(PayoffTest, HitsMayComeLater) {
  fills(at(Nanos(0)), 0);
  for (std::uint32_t i = 0; i < Payoff::kTrial; ++i) payoff_.hit(kKey);
  EXPECT_TRUE(payoff_.pays(kKey, at(Nanos(1))));
}

TEST_F(PayoffTest, AnotherKeyIsAnother) {
  fills(at(Nanos(0)), 0);
  EXPECT_TRUE(payoff_.pays({6}, at(Nanos(0))));
  payoff_.hit({kKey.value + 1024});  // of the same place: counts for nobody
  EXPECT_FALSE(payoff_.pays(kKey, at(Nanos(0))));
}

}  // namespace
}  // namespace heatsink::copies
