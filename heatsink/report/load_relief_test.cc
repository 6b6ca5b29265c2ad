// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/load_relief.h"

#include <gtest/gtest.h>

namespace heatsink::report {
namespace {

detect::KeyCount key_counted(std::uint64_t reads, std::uint64_t writes, std::uint64_t hits) {
  detect::KeyCount count;
  count.reads = reads;
  count.writes = writes;
  count.hits = hits;
  return count;
}

TEST(LoadRelief, OfAKeyIsOfItsReadsAndOfItsAccesses) {
  const LoadRelief relief = relief_of(key_counted(40, 10, 30), 20);
  EXPECT_EQ(relief.hits, 30U);
  EXPECT_EQ(relief.misses, 10U);
  EXPECT_DOUBLE_EQ(relief.hit_ratio, 0.75);
  EXPECT_DOUBLE_EQ(relief.offload, 0.4);
}

TEST(LoadRelief, FillsThatCostMoreThanHitsSpareMakeItNegative) {
  EXPECT_DOUBLE_EQ(relief_of(key_counted(10, 10, 2), -4).offload, -0.2);
}

// Hits and reads are counted at slightly different times.
TEST(LoadRelief, IsNeverMoreThanAll) {
  const LoadRelief relief = relief_of(key_counted(10, 0, 12), 12);
  EXPECT_EQ(relief.misses, 0U);
  EXPECT_DOUBLE_EQ(relief.hit_ratio, 1);
  EXPECT_DOUBLE_EQ(relief.offload, 1);
}

TEST(LoadRelief, WithoutAccessesIsZero) {
  EXPECT_DOUBLE_EQ(relief_of(key_counted(0, 0, 0), 0).offload, 0);
  EXPECT_DOUBLE_EQ(relief_of(key_counted(0, 0, 0), 0).hit_ratio, 0);
}

TEST(LoadRelief, OfAllKeysHasTheLoadTakenOffAsItWasCountedAtTheServers) {
  detect::Summary all;
  all.reads = 100;
  all.hits = 25;
  const LoadRelief relief = relief_of_all(all, -0.5);
  EXPECT_EQ(relief.misses, 75U);
  EXPECT_DOUBLE_EQ(relief.hit_ratio, 0.25);
  EXPECT_DOUBLE_EQ(relief.offload, -0.5);
}

}  // namespace
}  // namespace heatsink::report
