// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/register_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"

namespace heatsink::consistency {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Promise> broken(const HistoryMaker& maker, Nanos staleness = Nanos(0)) {
  std::vector<Promise> promises;
  for (const KeyHistory& key : split_by_key(maker.history)) {
    for (const Violation& violation : check_register(key, staleness, 10))
      promises.push_back(violation.promise);
  }
  return promises;
}

TEST(RegisterCheck, ReadsOfWhatWasWritten) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).read(1, 2, 3).write(2, 4, 5).read(2, 6, 7)),
              IsEmpty());
}

TEST(RegisterCheck, AConcurrentReadMaySeeEither) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).write(2, 2, 9).read(1, 3, 4)), IsEmpty());
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).write(2, 2, 9).read(2, 3, 4)), IsEmpty());
}

TEST(RegisterCheck, AStaleRead) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).write(2, 2, 3).read(1, 4, 5)),
              ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, NewThenOldWhileTheWriteIsUnderWay) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).write(2, 2, 9).read(2, 3, 4).read(1, 5, 6)),
              ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, TwoWritesThatTookTurns) {
  EXPECT_THAT(
      broken(HistoryMaker().write(1, 0, 9).write(2, 0, 9).read(1, 10, 11).read(2, 12, 13).read(
          1, 14, 15)),
      ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, AValueOfNobody) {
  EXPECT_THAT(broken(HistoryMaker().read(7, 0, 1)), ElementsAre(Promise::kWritten));
}

TEST(RegisterCheck, AValueFromTheFuture) {
  EXPECT_THAT(broken(HistoryMaker().read(7, 0, 1).write(7, 2, 3)), ElementsAre(Promise::kWritten));
}

TEST(RegisterCheck, AWriteOfUnknownOutcomeMayHaveHappenedAtAnyTimeOrNever) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).lost_write(2, 2).read(1, 3, 4)), IsEmpty());
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).lost_write(2, 2).read(1, 3, 4).read(2, 5, 6)),
              IsEmpty());
}

TEST(RegisterCheck, AWriteOfUnknownOutcomeThatWasSeenStays) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).lost_write(2, 2).read(2, 3, 4).read(1, 5, 6)),
              ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, NilBeforeTheFirstWriteAndAfterARemoval) {
  EXPECT_THAT(broken(HistoryMaker().read(kNil, 0, 1).write(1, 2, 3).erase(4, 5).read(kNil, 6, 7)),
              IsEmpty());
}

TEST(RegisterCheck, NilThatNothingExplains) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 2, 3).read(kNil, 4, 5)),
              ElementsAre(Promise::kRemoval));
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).erase(2, 3).write(2, 4, 5).read(kNil, 6, 7)),
              ElementsAre(Promise::kRemoval));
}

TEST(RegisterCheck, NilOfARemovalOfUnknownOutcome) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).lost_erase(2).read(1, 3, 4).read(kNil, 5, 6)),
              IsEmpty());
}

TEST(RegisterCheck, AValueReadAfterItsRemoval) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).erase(2, 3).read(1, 4, 5)),
              ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, NilInTheMidstOfAValue) {
  EXPECT_THAT(
      broken(
          HistoryMaker().write(1, 0, 1).erase(0, 9).read(1, 2, 3).read(kNil, 4, 5).read(1, 6, 7)),
      ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, NilWhenItsTimeIsOver) {
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1, 100).read(kNil, 102, 103)), IsEmpty());
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1, 100).read(kNil, 50, 51)),
              ElementsAre(Promise::kRemoval));
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).expire(100, 2, 3).read(kNil, 104, 105)),
              IsEmpty());
  EXPECT_THAT(broken(HistoryMaker().write(1, 0, 1).expire(100, 2, 3).read(kNil, 50, 51)),
              ElementsAre(Promise::kRemoval));
}

TEST(RegisterCheck, KeysAreApart) {
  HistoryMaker maker;
  maker.write(1, 0, 1).write(2, 2, 3).read(1, 4, 5);
  maker.history[1].key = 9;
  EXPECT_THAT(broken(maker), IsEmpty());
}

TEST(RegisterCheck, ReadsOfCopiesMayBeSoOldAndNoOlder) {
  const HistoryMaker maker = HistoryMaker().write(1, 0, 1).write(2, 2, 3).read(1, 10, 11);
  EXPECT_THAT(broken(maker, Millis(6)), ElementsAre(Promise::kRegister));
  EXPECT_THAT(broken(maker, Millis(8)), IsEmpty());
}

TEST(RegisterCheck, WhatTheServerItselfSaidIsNeverOld) {
  const HistoryMaker maker = HistoryMaker().write(1, 0, 1).write(2, 2, 3).server_read(1, 10, 11);
  EXPECT_THAT(broken(maker, Millis(1000)), ElementsAre(Promise::kRegister));
}

TEST(RegisterCheck, OldNilIsBoundedToo) {
  const HistoryMaker maker = HistoryMaker().erase(0, 1).write(2, 2, 3).read(kNil, 10, 11);
  EXPECT_THAT(broken(maker, Millis(6)), ElementsAre(Promise::kRemoval));
  EXPECT_THAT(broken(maker, Millis(8)), IsEmpty());
}

// What WATCH guards: EXEC finds the value that was read, so it is a read of it at that time.
TEST(RegisterCheck, ALostUpdate) {
  EXPECT_THAT(broken(HistoryMaker()
                         .write(1, 0, 1)
                         .server_read(1, 2, 3)
                         .write(2, 4, 5)
                         .server_read(1, 6, 7)
                         .write(3, 6, 7)),
              ElementsAre(Promise::kRegister));
}

}  // namespace
}  // namespace heatsink::consistency
