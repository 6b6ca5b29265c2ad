// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/merger.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heatsink::heat {
namespace {

Column column_with(std::uint32_t weight, double rate) {
  Column column;
  column.seconds = weight;
  column.totals[0] = static_cast<float>(rate);
  column.requests_max = static_cast<float>(rate);
  column.all[column.size++] = {
      .id = 7, .mean = code_of(rate), .max = code_of(rate), .bytes = bytes_code(rate * 2)};
  return column;
}

Kind all_keys(IdentityId) { return Kind::kKey; }

TEST(Merger, MeansAreWeightedByTime) {
  Merger merger;
  merger.add(column_with(1, 4096));
  merger.add(column_with(3, 64));
  const Column merged = merger.close(5, all_keys);
  EXPECT_EQ(merged.number, 5);
  EXPECT_EQ(merged.seconds, 4U);
  EXPECT_EQ(merged.totals[0], 1072);
  ASSERT_EQ(merged.cells().size(), 1U);
  EXPECT_NEAR(rate_of(merged.cells()[0].mean), 1072, 33);
  EXPECT_EQ(merged.cells()[0].max, code_of(4096));
  EXPECT_NEAR(bytes_of(merged.cells()[0].bytes), 2144, 97);
  EXPECT_TRUE(merger.is_empty());
}

TEST(Merger, AFigureThatIsNotKnownHasNoWeight) {
  Column unknown = column_with(1, 100);
  unknown.totals[4] = NAN;
  Column known = column_with(1, 100);
  known.totals[4] = 50;
  Merger merger;
  merger.add(unknown);
  merger.add(known);
  EXPECT_EQ(merger.close(0, all_keys).totals[4], 50);
  merger.add(unknown);
  EXPECT_TRUE(std::isnan(merger.close(1, all_keys).totals[4]));
}

TEST(Merger, ABoundThatIsNotKnownIsNotKnownAfterwards) {
  Column bounded = column_with(1, 100);
  bounded.unnamed_max[0] = 3;
  Column open = column_with(1, 100);
  open.unnamed_max[0] = NAN;
  Merger merger;
  merger.add(bounded);
  merger.add(open);
  EXPECT_TRUE(std::isnan(merger.close(0, all_keys).unnamed_max[0]));
  merger.add(bounded);
  EXPECT_EQ(merger.close(1, all_keys).unnamed_max[0], 3);
}

TEST(Merger, WhatIsForgottenIsInTheBound) {
  Merger merger;
  merger.add(column_with(1, 1024));
  merger.forget(7, Kind::kKey);
  Column other = column_with(1, 64);
  other.all[0].id = 8;
  merger.add(other);
  const Column merged = merger.close(0, all_keys);
  ASSERT_EQ(merged.cells().size(), 1U);
  EXPECT_EQ(merged.cells()[0].id, 8);
  EXPECT_EQ(merged.unnamed_max[0], 512);
}

}  // namespace
}  // namespace heatsink::heat
