// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/floor_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"

namespace heatsink::consistency {
namespace {

std::size_t sessions(const HistoryMaker& maker) {
  return check_sessions(split_by_key(maker.history).front(), 10).size();
}

std::size_t no_way_back(const HistoryMaker& maker) {
  return check_no_way_back(split_by_key(maker.history).front(), 10).size();
}

HistoryMaker two_versions() { return HistoryMaker().on(9, 0).write(1, 0, 1).write(2, 2, 3); }

TEST(Sessions, MayLagBehindOthers) { EXPECT_EQ(sessions(two_versions().on(1).read(1, 9, 10)), 0U); }

TEST(Sessions, NewThenOld) {
  EXPECT_EQ(sessions(two_versions().on(1).read(2, 9, 10).read(1, 11, 12)), 1U);
}

TEST(Sessions, NewThenOldInOnePipeline) {
  EXPECT_EQ(sessions(two_versions().on(1).read(2, 9, 10).read(1, 9, 10)), 1U);
}

TEST(Sessions, OldThenNewInOnePipeline) {
  EXPECT_EQ(sessions(two_versions().on(1).read(1, 2, 10).read(2, 2, 10)), 0U);
}

TEST(Sessions, TwoSessionsMayDiffer) {
  EXPECT_EQ(sessions(two_versions().on(1).read(2, 9, 10).on(2).read(1, 11, 12)), 0U);
}

TEST(Sessions, OwnWriteNotSeen) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).write(2, 2, 3).read(1, 4, 5)), 1U);
}

TEST(Sessions, OwnWriteNotSeenInItsPipeline) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).write(2, 2, 9).read(1, 2, 9)), 1U);
}

TEST(Sessions, OfTwoOwnWritesInOnePipelineTheFirstSeen) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 9).write(2, 0, 9).read(1, 0, 9)), 1U);
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 9).write(2, 0, 9).read(2, 0, 9)), 0U);
}

TEST(Sessions, AnotherValueAfterTheOwnWrite) {
  EXPECT_EQ(sessions(HistoryMaker().on(2, 0).write(1, 0, 9).on(1).write(2, 1, 2).read(1, 3, 4)),
            0U);
}

TEST(Sessions, OwnRemovalNotSeen) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).erase(2, 9).read(1, 2, 9)), 1U);
}

TEST(Sessions, OwnWriteMissing) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).read(kNil, 2, 3)), 1U);
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).read(kNil, 2, 3).on(2, 0).erase(0, 9)), 0U);
}

TEST(Sessions, AnOwnWriteOfUnknownOutcomeNeedNotBeSeen) {
  EXPECT_EQ(sessions(HistoryMaker().write(1, 0, 1).lost_write(2, 2).read(1, 3, 4)), 0U);
}

TEST(NoWayBack, OneClientNewThenAnotherOld) {
  EXPECT_EQ(no_way_back(two_versions().on(1).read(2, 9, 10).on(2).read(1, 11, 12)), 1U);
}

TEST(NoWayBack, AtTheSameTime) {
  EXPECT_EQ(no_way_back(two_versions().on(1).read(2, 9, 11).on(2).read(1, 10, 12)), 0U);
  EXPECT_EQ(no_way_back(two_versions().on(1).read(2, 9, 10).on(2).read(1, 10, 12)), 0U);
}

TEST(NoWayBack, TwoProxiesMayDiffer) {
  EXPECT_EQ(no_way_back(two_versions().on(1, 1).read(2, 9, 10).on(2, 2).read(1, 11, 12)), 0U);
}

TEST(NoWayBack, AWriteThroughTheProxyIsShown) {
  EXPECT_EQ(
      no_way_back(HistoryMaker().on(9, 0).write(1, 0, 1).on(1).write(2, 2, 3).on(2).read(1, 4, 5)),
      1U);
}

TEST(NoWayBack, ARemovalThroughTheProxyIsShown) {
  EXPECT_EQ(
      no_way_back(HistoryMaker().on(9, 0).write(1, 0, 1).on(1).erase(2, 3).on(2).read(1, 4, 5)),
      1U);
}

}  // namespace
}  // namespace heatsink::consistency
