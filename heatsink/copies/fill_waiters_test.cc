// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fill_waiters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using HowJoined = FillWaiters::JoinResult;

constexpr ReadHash kRead{7};

FillAnswer answer(int sent_ms, bool usable = true, ReadHash key = kRead) {
  FillAnswer answer;
  answer.which = key;
  answer.sent_at = at(sent_ms);
  answer.usable = usable;
  return answer;
}

TEST(FillWaiters, TheFirstAsksAndTheOthersJoin) {
  FillWaiters waiters(10);
  EXPECT_EQ(waiters.join(kRead, 1, at(0)), HowJoined::kAskKeeper);
  EXPECT_EQ(waiters.join(kRead, 2, at(0)), HowJoined::kJoined);
  EXPECT_THAT(waiters.take(answer(1)), ElementsAre(1, 2));
  EXPECT_THAT(waiters.take(answer(2)), IsEmpty());
  EXPECT_EQ(waiters.join(kRead, 3, at(0)), HowJoined::kAskKeeper);
}

TEST(FillWaiters, WhoHasSeenMoreAsksForALaterFillAndWaitsForThat) {
  FillWaiters waiters(10);
  waiters.join(kRead, 1, at(0));
  EXPECT_EQ(waiters.join(kRead, 2, at(5)), HowJoined::kAskKeeper);
  EXPECT_EQ(waiters.join(kRead, 3, at(4)), HowJoined::kJoined);
  EXPECT_THAT(waiters.take(answer(4)), ElementsAre(1));
  EXPECT_THAT(waiters.take(answer(5)), ElementsAre(3)) << "5 is not later than the fence at 5";
  EXPECT_THAT(waiters.take(answer(6)), ElementsAre(2));
}

TEST(FillWaiters, AFailureIsForAll) {
  FillWaiters waiters(10);
  waiters.join(kRead, 1, at(0));
  waiters.join(kRead, 2, at(9));
  EXPECT_THAT(waiters.take(answer(1, false)), ElementsAre(1, 2));
}

TEST(FillWaiters, KeysAreApart) {
  FillWaiters waiters(10);
  waiters.join(kRead, 1, at(0));
  EXPECT_EQ(waiters.join(ReadHash{8}, 2, at(0)), HowJoined::kAskKeeper);
  EXPECT_THAT(waiters.take(answer(1, true, ReadHash{8})), ElementsAre(2));
}

TEST(FillWaiters, AreBoundedPerKey) {
  FillWaiters waiters(2);
  waiters.join(kRead, 1, at(0));
  waiters.join(kRead, 2, at(0));
  EXPECT_EQ(waiters.join(kRead, 3, at(0)), HowJoined::kFull);
  EXPECT_EQ(waiters.join(ReadHash{8}, 3, at(0)), HowJoined::kAskKeeper);
  EXPECT_THAT(waiters.take(answer(1)), ElementsAre(1, 2));
}

TEST(FillWaiters, NoneMayWaitWhereTheLimitIsZero) {
  FillWaiters waiters(0);
  EXPECT_EQ(waiters.join(kRead, 1, at(0)), HowJoined::kFull);
  EXPECT_THAT(waiters.take(answer(1)), IsEmpty());
}

// MGET requests all its copies but waits for only one of them.
TEST(FillWaiters, NobodyAsksOnceAndIsNotWokenTwice) {
  FillWaiters waiters(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(waiters.join(kRead, FillWaiters::kNoSession, at(5)),
              i == 0 ? HowJoined::kAskKeeper : HowJoined::kJoined);
  }
  EXPECT_EQ(waiters.join(kRead, 1, at(5)), HowJoined::kJoined);
  EXPECT_THAT(waiters.take(answer(6)), ElementsAre(FillWaiters::kNoSession, 1));
}

}  // namespace
}  // namespace heatsink::copies
