// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/order_check.h"

#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"

namespace heatsink::consistency {
namespace {

constexpr std::uint32_t kA = 0;
constexpr std::uint32_t kB = 1;

std::size_t disordered(const HistoryMaker& maker) {
  return check_session_order(split_by_key(maker.history), 10).size();
}

std::size_t barriers(const HistoryMaker& maker) {
  return check_barriers(maker.history, split_by_key(maker.history), 10).size();
}

// Past the proxies: a is 1 and then 2, then b is 3 and then 4, all by 7 ms.
HistoryMaker a_then_b() {
  return HistoryMaker().on(9, 0).of(kA).write(1, 0, 1).write(2, 2, 3).of(kB).write(3, 4, 5).write(
      4, 6, 7);
}

TEST(SessionOrder, MayLagBehindOthers) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kA).read(1, 20, 21).of(kB).read(3, 22, 23)), 0U);
}

TEST(SessionOrder, NewThenOldOfAnotherKey) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).read(4, 20, 21).of(kA).read(1, 22, 23)), 1U);
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).read(4, 20, 21).of(kA).read(2, 22, 23)), 0U);
}

TEST(SessionOrder, WithinAPipelineToo) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).read(4, 20, 23).of(kA).read(1, 20, 23)), 1U);
  EXPECT_EQ(disordered(a_then_b().on(1).of(kA).read(1, 20, 23).of(kB).read(4, 20, 23)), 0U);
}

TEST(SessionOrder, AServerMayHaveShownTheOldUntilThen) {
  for (const bool is_late : {false, true}) {
    HistoryMaker maker = a_then_b().on(1).of(kB).read(4, 20, 21).of(kA).read(1, 22, 23);
    // 4 was written at 6 ms.
    maker.history.back().shown_until = at(is_late ? 6.5 : 5.5);
    EXPECT_EQ(disordered(maker), is_late ? 0U : 1U);
  }
}

TEST(SessionOrder, TwoSessionsMayDiffer) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).read(4, 20, 21).on(2).of(kA).read(1, 22, 23)), 0U);
}

TEST(SessionOrder, TheOldMayBeThereWhileItIsBeingReplaced) {
  const HistoryMaker maker = HistoryMaker().on(9, 0).of(kA).write(1, 0, 1).write(2, 2, 8).on(8, 0);
  HistoryMaker overlap = maker;
  overlap.of(kB).write(3, 4, 5).on(1).read(3, 6, 7).of(kA).read(1, 9, 10);
  EXPECT_EQ(disordered(overlap), 0U) << "2 may have been written after 3";
  HistoryMaker after = maker;
  after.of(kB).write(3, 8.5, 9).on(1).read(3, 10, 11).of(kA).read(1, 12, 13);
  EXPECT_EQ(disordered(after), 1U);
}

TEST(SessionOrder, WhatTheServerSaysIsOfThatMoment) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).server_read(3, 5.5, 5.6).of(kA).read(1, 22, 23)),
            1U);
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).server_read(kNil, 2, 2.5).of(kA).read(1, 22, 23)),
            0U);
}

TEST(SessionOrder, AnOwnWriteIsOfThatMoment) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(2).write(5, 10, 11).of(kA).read(1, 12, 13)), 1U);
  EXPECT_EQ(disordered(a_then_b().on(1).of(2).lost_write(5, 10).of(kA).read(1, 12, 13)), 0U);
}

TEST(SessionOrder, MissingAlthoughItIsThere) {
  EXPECT_EQ(disordered(a_then_b().on(1).of(kB).read(4, 20, 21).of(kA).read(kNil, 22, 23)), 1U);
  EXPECT_EQ(
      disordered(a_then_b().erase(8, 9).on(1).of(kA).read(2, 20, 21).of(kB).read(kNil, 22, 23)),
      0U);
  HistoryMaker first = HistoryMaker().on(1).of(kB).read(kNil, 0, 1).of(kA).read(kNil, 2, 3);
  EXPECT_EQ(disordered(first), 0U);
}

TEST(Barriers, NoClientReadsBehindOneThatWasAnswered) {
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(10, 11).on(2).of(kA).read(1, 12, 13)), 1U);
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(10, 11).on(2).of(kA).read(2, 12, 13)), 0U);
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(10, 11).on(2).of(kA).read(1, 11, 13)), 0U)
      << "sent while it was not answered yet";
}

TEST(Barriers, WhatIsWrittenAfterItWasAskedNeedNotBeSeen) {
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(6.5, 11).on(2).of(kB).read(3, 12, 13)), 0U);
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(7.5, 11).on(2).of(kB).read(3, 12, 13)), 1U);
}

TEST(Barriers, WithinAPipeline) {
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(10, 11).of(kA).read(1, 10, 11)), 1U);
  EXPECT_EQ(barriers(a_then_b().on(1).of(kA).read(1, 10, 11).barrier(10, 11)), 0U);
}

TEST(Barriers, OfAnotherProxySayNothing) {
  EXPECT_EQ(barriers(a_then_b().on(1, 1).barrier(10, 11).on(2, 2).of(kA).read(1, 12, 13)), 0U);
}

TEST(Barriers, MissingAlthoughItIsThere) {
  EXPECT_EQ(barriers(a_then_b().on(1).barrier(10, 11).on(2).of(kA).read(kNil, 12, 13)), 1U);
}

}  // namespace
}  // namespace heatsink::consistency
