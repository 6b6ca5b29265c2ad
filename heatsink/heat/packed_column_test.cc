// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/packed_column.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heatsink::heat {
namespace {

Column full_column() {
  Column column{.number = 1'795'867'200, .seconds = 600, .requests_max = 9};
  for (std::size_t i = 0; i < column.totals.size(); ++i)
    column.totals[i] = static_cast<float>(i) + 0.5F;
  for (std::size_t i = 0; i < kKinds; ++i) column.unnamed_max[i] = static_cast<float>(i) + 0.25F;
  for (std::size_t i = 0; i < Column::kCellsMax; ++i) {
    const auto code = static_cast<RateCode>(i);
    column.all[column.size++] = {.id = static_cast<IdentityId>(0x1f00 + i),
                                 .mean = code,
                                 .max = static_cast<RateCode>(code + 1),
                                 .writes = static_cast<RateCode>(code + 2),
                                 .hits = static_cast<RateCode>(code + 3),
                                 .bytes = static_cast<RateCode>(code + 4)};
  }
  return column;
}

TEST(PackedColumn, HoldsAllOfAColumn) {
  const Column column = full_column();
  const Column again = PackedColumn(column).unpacked();
  EXPECT_EQ(again.number, column.number);
  EXPECT_EQ(again.seconds, column.seconds);
  EXPECT_EQ(again.totals, column.totals);
  EXPECT_EQ(again.requests_max, column.requests_max);
  EXPECT_EQ(again.unnamed_max, column.unnamed_max);
  ASSERT_EQ(again.size, column.size);
  for (std::size_t i = 0; i < column.size; ++i) {
    const Cell &is = again.all[i], &was = column.all[i];
    EXPECT_EQ(is.id, was.id);
    EXPECT_EQ(std::vector({is.mean, is.max, is.writes, is.hits, is.bytes}),
              std::vector({was.mean, was.max, was.writes, was.hits, was.bytes}));
  }
}

TEST(PackedColumn, TellsItsIdentitiesAndTheirHighestRates) {
  Column column = full_column();
  column.size = 2;
  std::vector<std::pair<IdentityId, RateCode>> told;
  PackedColumn(column).for_each_cell(
      [&told](IdentityId id, RateCode max) { told.emplace_back(id, max); });
  EXPECT_EQ(told, (std::vector<std::pair<IdentityId, RateCode>>{{0x1f00, 1}, {0x1f01, 2}}));
}

TEST(PackedColumn, NeedsSevenBytesForACell) {
  const Column column = full_column();
  Column half = column;
  half.size = Column::kCellsMax / 2;
  EXPECT_EQ(PackedColumn(column).bytes() - PackedColumn(half).bytes(), 7 * Column::kCellsMax / 2);
  EXPECT_LE(PackedColumn(column).bytes(), 120 + 7 * Column::kCellsMax);
}

}  // namespace
}  // namespace heatsink::heat
