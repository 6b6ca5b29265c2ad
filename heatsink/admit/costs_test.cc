// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/costs.h"

#include <gtest/gtest.h>

namespace heatsink::admit {
namespace {

TEST(CostsTest, TheReadsToPayAreAWholeNumberWithinBounds) {
  EXPECT_EQ(reads_to_pay(0, 0), 1U);
  EXPECT_EQ(reads_to_pay(0.6, 0.4), 1U);
  EXPECT_EQ(reads_to_pay(0.6, 0.5), 2U);
  EXPECT_EQ(reads_to_pay(4.2, 7.7), 12U);
  EXPECT_EQ(reads_to_pay(1e300, 1e300), Costs::kReadsToPayMax);
}

TEST(CostsTest, FillsOfManyReadsShareAWakeUp) {
  const Costs costs{.fill = 2, .wake_up = 16, .reads_together = 100};
  EXPECT_DOUBLE_EQ(costs.of_fill(0), 18);
  EXPECT_DOUBLE_EQ(costs.of_fill(0.001), 18) << "a fill comes alone at most";
  EXPECT_DOUBLE_EQ(costs.of_fill(0.04), 6);
  EXPECT_DOUBLE_EQ(costs.of_fill(0.9), 2.5) << "32 at once at most";
}

TEST(CostsTest, HeldCopiesOfAKeyWithoutWritesAnswerItsReads) {
  EXPECT_EQ(saved_when_held(100, 0, {.fill = 5, .end = 8}), 1);
}

// A tenth of the accesses are writes, and nine of ten writes are followed by a read.
TEST(CostsTest, EachWriteCostsAReadAFillAndAnEnd) {
  EXPECT_DOUBLE_EQ(saved_when_held(90, 10, {.fill = 0, .end = 0}), 0.9);
  EXPECT_DOUBLE_EQ(saved_when_held(90, 10, {.fill = 3, .end = 4}), 0.2);
  EXPECT_LT(saved_when_held(90, 10, {.fill = 4.2, .end = 7.7}), 0);
}

TEST(CostsTest, CopiesOfAKeyThatIsOnlyWrittenSaveNothing) {
  EXPECT_LT(saved_when_held(0, 10, {.fill = 0, .end = 0}), 0);
  EXPECT_LT(saved_when_held(0, 0, {.fill = 0, .end = 0}), 0);
}

}  // namespace
}  // namespace heatsink::admit
