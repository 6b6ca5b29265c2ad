// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/random.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  Random random(0);
  // The reference values of SplitMix64 for the seed 0.
  EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4ULL);
  Random unit(3);
  for (int i = 0; i < 1000; ++i) {
    const double u = unit.unit();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
}

}  // namespace
}  // namespace heatsink
