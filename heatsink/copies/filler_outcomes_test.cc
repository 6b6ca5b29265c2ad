// SPDX-License-Identifier: Apache-2.0
// Requests of the keeper itself, and the outcomes that it gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/copies/filler.h"
#include "heatsink/copies/filler_fixture_for_test.h"

namespace heatsink::copies {
namespace {

using testing::ElementsAre;

TEST_F(FillerTest, TheKeeperItselfMayAskAndReadersJoin) {
  ask(FillRequest::kNoWorker, at(0), at(10));
  ask(2, at(9), at(11));
  EXPECT_EQ(count(sent(), "GETRANGE"), 1u);
  hear_value("v");
  EXPECT_THAT(workers_.take(), ElementsAre("2: $1\r\nv\r\n sent 10"));
  EXPECT_EQ(workers_.asked_by, FillRequest::kNoWorker);
  EXPECT_THAT(workers_.outcomes, ElementsAre(FillOutcome::kKept));
}

TEST_F(FillerTest, WhatBecameOfAFillIsTold) {
  ask(0, at(0), at(10));
  hear(kNoKey);
  ask(0, at(10), at(20));
  hear_value("0123456789a");
  ask(0, at(20), at(30));
  hear("-WRONGTYPE x\r\n:-1\r\n");
  ask(0, at(30), at(40));
  hear("$1\r\nv\r\n");
  hear(kPushOfK);
  hear(":-1\r\n");
  ask(0, at(40), at(50));
  tracker_.disconnected("gone");
  EXPECT_THAT(workers_.outcomes,
              ElementsAre(FillOutcome::kKeptNil, FillOutcome::kTooBig, FillOutcome::kRefused,
                          FillOutcome::kSpoiled, FillOutcome::kFailed));
}

TEST_F(FillerTest, ARefusedDatabaseEndsNoCopyOfAnother) {
  ask(0, at(0), at(10));
  hear_value("v");
  ask(0, at(10), at(20), 1);
  hear("-ERR DB index is out of range\r\n");
  hear_value("of database 0");
  EXPECT_EQ(workers_.outcomes.back(), FillOutcome::kNoDatabase);
  EXPECT_EQ(workers_.last_why, "the server refuses database 1: ERR DB index is out of range");
  EXPECT_EQ(shared_.table.entry(key(1))->uncacheable(), cache::Uncacheable::kNoDatabase);
  EXPECT_FALSE(shared_.table.has_copy(key(1)));
  EXPECT_TRUE(served(at(20)));
  EXPECT_THAT(workers_.proof, ElementsAre("")) << "the tracker is not lost";
}

TEST_F(FillerTest, TheEndAndTheReturnOfTheProofAreReportedOnce) {
  tracker_.disconnected("gone");
  tracker_.connected(at(10));
  tracker_.disconnected("gone again");
  tracker_.connected(at(20));
  hear(kHandshake);
  EXPECT_THAT(workers_.proof, ElementsAre("", "gone", ""));
}

// Asked at once, the server would return "v" with a TTL near 0.
TEST_F(FillerTest, AValueWhoseTtlHasJustEndedIsAskedForWhenTheServerHasEndedItToo) {
  const FillRequest again{0, key(), "k", 0, at(0), {key().value}};
  EXPECT_EQ(filler_.wait_for_expiry(again, at(10)), Nanos(0)) << "there is no copy";
  ask(0, at(0), at(0));
  hear_value("v", ":500\r\n");  // sent at 1 ns, read at 1 ms: it ends up to 2 ms after 500 ms
  EXPECT_EQ(filler_.wait_for_expiry(again, at(499)), Nanos(0)) << "it lives";
  EXPECT_EQ(filler_.wait_for_expiry(again, at(501)), Millis(1) + Nanos(1));
  EXPECT_EQ(filler_.wait_for_expiry(again, at(503)), Nanos(0));
}

// A read that finds the key expired deletes it, and its push arrives before the TTL's reply.
TEST_F(FillerTest, AKeyThatExpiresWithTheReadIsKeptAsMissing) {
  ask(0, at(0), at(10));
  hear("$0\r\n\r\n");
  hear(kPushOfK);
  hear(":-2\r\n");
  EXPECT_THAT(workers_.take(), ElementsAre("0: nil sent 10"));
  ASSERT_NE(copy(), nullptr);
  EXPECT_TRUE(copy()->nil);
  EXPECT_TRUE(served(at(20)));
}

}  // namespace
}  // namespace heatsink::copies
