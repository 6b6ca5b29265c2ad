// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/detect/key_rows_for_test.h"
#include "heatsink/detect/tally_board.h"

namespace heatsink::detect {
namespace {

TEST(KeyRows, ARowForgetsTheSlotsThatHaveLeft) {
  KeyRows rows(2, Dimension::kRequests);
  rows.move({.turn = 20, .slot = 0}, UINT64_MAX);
  put(rows, 1, 77, 5);
  rows.move({.turn = 23, .slot = 3}, UINT64_MAX);
  rows.roll(1);
  rows.counts(1).count[3] = 2;
  EXPECT_EQ(low(rows.counts(1)), 7U);
  rows.move({.turn = 30, .slot = 0}, UINT64_MAX);
  EXPECT_EQ(low(rows.counts(1)), 7U) << "a row waits until it is read";
  rows.roll(1);
  EXPECT_EQ(low(rows.counts(1)), 2U);
  EXPECT_EQ(rows.counts(1).tag, 77U);
  EXPECT_EQ(rows.counts(0).tag, 0U);
}

TEST(KeyRows, AnotherKeyBeginsWithNothing) {
  KeyRows rows(1, Dimension::kWrites);
  put(rows, 0, 1, 9);
  rows.details(0).a[0] = 3;
  rows.details(0).mean = 100;
  rows.details(0).name_size = 7;
  rows.details(0).tallies = 4;
  rows.begin(0, {.tag = 2, .amount = {}, .db = 6, .client = 0, .command = 0, .name_size = 0});
  EXPECT_EQ(rows.counts(0).tag, 2U);
  EXPECT_EQ(low(rows.counts(0)), 0U);
  EXPECT_EQ(rows.details(0).a[0], 0U);
  EXPECT_EQ(rows.details(0).mean, 0U);
  EXPECT_EQ(rows.details(0).db, 6U);
  EXPECT_EQ(rows.details(0).name_size, 0U);
  EXPECT_EQ(rows.details(0).tallies, TallyBoard::kNoRow);
}

TEST(KeyRows, AKeyRingsAtTheUrgentCountAndAtEachDoubling) {
  KeyRows rows(1, Dimension::kRequests);
  rows.set_urgent_count(10);
  put(rows, 0, 1, 0);
  std::vector<std::uint32_t> rang_at;
  std::uint32_t& count = rows.counts(0).count[0];
  while (count < 50) {
    if (++count >= rows.counts(0).alarm && rows.ring(0)) rang_at.push_back(count);
  }
  EXPECT_EQ(rang_at, (std::vector<std::uint32_t>{10, 20, 40}));
}

TEST(KeyRows, WithoutAnUrgentCountNoKeyRings) {
  KeyRows rows(1, Dimension::kRequests);
  put(rows, 0, 1, UINT32_MAX);
  ASSERT_GE(rows.counts(0).count[0], rows.counts(0).alarm);
  EXPECT_FALSE(rows.ring(0));
}

}  // namespace
}  // namespace heatsink::detect
