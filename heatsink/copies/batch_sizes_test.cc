// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/batch_sizes.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace heatsink::copies {
namespace {

BatchSizes turns_of(std::initializer_list<int> sizes) {
  BatchSizes batches;
  for (const int size : sizes) batches.note(static_cast<std::uint64_t>(size));
  return batches;
}

TEST(BatchSizesTest, AHitOfALoneCommandSparesAWakeUp) {
  for (const double hits : {0.1, 0.5, 1.0})
    EXPECT_DOUBLE_EQ(turns_of({1}).spared_by_hit(hits, 1), 1) << hits;
}

TEST(BatchSizesTest, OfManyAtOnceAllMustBeHits) {
  EXPECT_LT(turns_of({16}).spared_by_hit(0.7, 1), 0.001);
  EXPECT_NEAR(turns_of({16}).spared_by_hit(1, 1), 1.0 / 23.5, 1e-9) << "one for the whole batch";
}

// The mean of both is ten at once.
TEST(BatchSizesTest, TurnsWithFewCommandsDecideWhereClientsBunch) {
  const double even = turns_of({10}).spared_by_hit(0.74, 1);
  const double bunched = turns_of({1, 1, 1, 1, 1, 1, 30, 24}).spared_by_hit(0.74, 1);
  EXPECT_GT(bunched, 20 * even);
  EXPECT_NEAR(bunched, 6.0 / 53, 0.01) << "the lone ones, of all that are answered";
}

TEST(BatchSizesTest, ManyConnectionsMakeSmallBatches) {
  EXPECT_DOUBLE_EQ(turns_of({11}).spared_by_hit(0.5, 1000), 1) << "each has a connection";
  EXPECT_GT(turns_of({11}).spared_by_hit(0.5, 3), 10 * turns_of({11}).spared_by_hit(0.5, 1));
}

TEST(BatchSizesTest, TurnsAddUpAndDecay) {
  BatchSizes all = turns_of({1, 0});
  EXPECT_EQ(all.turns(), 1) << "a turn without commands is none";
  all += turns_of({500, 3});
  EXPECT_EQ(all.turns(), 3);
  all.decay(0.5);
  EXPECT_EQ(all.turns(), 1.5);
}

}  // namespace
}  // namespace heatsink::copies
