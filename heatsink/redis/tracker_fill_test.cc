// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracker_fixture_for_test.h"

#include <array>
#include <string_view>

namespace heatsink::redis {
namespace {

using Filling = TrackerUp;

TEST_F(Filling, ReadsTheValueAndThenItsTtl) {
  tracker_.fill(7, {"k", 0}, at(5));
  EXPECT_EQ(sent(), request({"GETRANGE", "k", "0", "10"}) + request({"PTTL", "k"}));
}

TEST_F(Filling, AValueWithoutTtl) {
  EXPECT_THAT(filled(bulk("v") + integer(-1)), ElementsAre("filled 7 value sent 5 \"v\""));
}

TEST_F(Filling, AValueWithTtl) {
  EXPECT_THAT(filled(bulk("v") + integer(1500)),
              ElementsAre("filled 7 value sent 5 ttl 1500 \"v\""));
}

TEST_F(Filling, ATtlBeyondWhatAClockCanHoldIsCut) {
  EXPECT_THAT(filled(bulk("v") + integer(INT64_MAX)),
              ElementsAre("filled 7 value sent 5 ttl 31536000000 \"v\""));
}

TEST_F(Filling, NoSuchKey) {
  EXPECT_THAT(filled(bulk("") + integer(-2)), ElementsAre("filled 7 nil sent 5"));
}

TEST_F(Filling, AnEmptyValueIsNotNil) {
  EXPECT_THAT(filled(bulk("") + integer(-1)), ElementsAre("filled 7 value sent 5 \"\""));
  EXPECT_THAT(filled(bulk("") + integer(3)), ElementsAre("filled 7 value sent 5 ttl 3 \"\""));
}

// The key expires between the two reads, and the server sends the push after the second. Readers
// who came behind its end must not take the value (ttl 0).
TEST_F(Filling, AValueThatIsGoneWhenItsTtlIsReadIsNotKept) {
  EXPECT_THAT(filled(bulk("v") + integer(-2)),
              ElementsAre("filled 7 value sent 5 ttl 0 spoiled \"v\""));
}

TEST_F(Filling, AsLongAsTheLimitAndOneMore) {
  EXPECT_THAT(filled(bulk("0123456789") + integer(-1)),
              ElementsAre("filled 7 value sent 5 \"0123456789\""));
  EXPECT_THAT(filled(bulk("0123456789a") + integer(-1)), ElementsAre("filled 7 too big sent 5"));
}

TEST_F(Filling, WhatIsNoStringIsRefused) {
  EXPECT_THAT(filled("-WRONGTYPE Operation against a key\r\n" + integer(-1)),
              ElementsAre("filled 7 refused sent 5"));
}

TEST_F(Filling, WhatTheServerForbidsIsRefused) {
  const std::string no = "-NOPERM no permission\r\n";
  EXPECT_THAT(filled(no + no), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(filled(bulk("v") + no), ElementsAre("filled 7 refused sent 5"));
}

TEST_F(Filling, AServerThatIsNotOursAnyMoreFailsIt) {
  tracker_.fill(7, {"k", 0}, at(5));
  EXPECT_THAT(error_of("-LOADING x\r\n"), HasSubstr("LOADING"));
  tracker_.disconnected("loading");
  EXPECT_THAT(log_.take(), ElementsAre("down", "filled 7 failed sent 5"));
}

// One moved slot says nothing about the others: the heartbeat asks for those.
TEST_F(Filling, AKeyOfAnotherNodeIsRefused) {
  for (const std::string error :
       {"-MOVED 1 127.0.0.1:7\r\n", "-ASK 1 127.0.0.1:7\r\n", "-TRYAGAIN x\r\n"})
    EXPECT_THAT(filled(error + error), ElementsAre("filled 7 refused sent 5")) << error;
}

TEST_F(Filling, APushBetweenTheTwoRepliesSpoilsIt) {
  EXPECT_THAT(
      filled(bulk("v") + push({"other", "k"}) + integer(-1)),
      ElementsAre("invalidate other", "invalidate k", "filled 7 value sent 5 spoiled \"v\""));
  EXPECT_THAT(filled(bulk("v") + kFlushPush + integer(-1)),
              ElementsAre("flush", "filled 7 value sent 5 spoiled \"v\""));
}

TEST_F(Filling, APushBeforeOrAfterTheRepliesDoesNot) {
  EXPECT_THAT(filled(push({"k"}) + kFlushPush + bulk("v") + integer(-1) + push({"k"})),
              ElementsAre("invalidate k", "flush", "filled 7 value sent 5 \"v\"", "invalidate k"));
}

TEST_F(Filling, APushOfAnotherNameDoesNot) {
  EXPECT_THAT(filled(bulk("v") + push({"kk"}) + integer(-1)),
              ElementsAre("invalidate kk", "filled 7 value sent 5 \"v\""));
}

// "" and then a change: either the key was missing and was created, or it was "" and changed. But a
// key that is missing when its TTL is read is missing; so is a key that the read itself found
// expired.
TEST_F(Filling, AnEmptyReplyAndAPushCannotBeTold) {
  EXPECT_THAT(filled(bulk("") + push({"k"}) + integer(-1)),
              ElementsAre("invalidate k", "filled 7 failed sent 5 spoiled"));
  EXPECT_THAT(filled(bulk("") + push({"k"}) + integer(-2)),
              ElementsAre("invalidate k", "filled 7 nil sent 5"));
}

TEST_F(Filling, APushSpoilsOnlyTheFillItFallsInto) {
  tracker_.fill(1, {"k", 0}, at(5));
  tracker_.fill(2, {"k", 0}, at(6));
  EXPECT_THAT(hear(bulk("a") + push({"k"}) + integer(-1) + bulk("b") + integer(-1)),
              ElementsAre("invalidate k", "filled 1 value sent 5 spoiled \"a\"",
                          "filled 2 value sent 6 \"b\""));
}

TEST_F(Filling, SelectsTheDatabaseWhenItChanges) {
  const std::string read = request({"GETRANGE", "k", "0", "10"}) + request({"PTTL", "k"});
  tracker_.fill(1, {"k", 0}, at(5));
  EXPECT_EQ(sent(), read);
  tracker_.fill(2, {"k", 3}, at(5));
  tracker_.fill(3, {"k", 3}, at(5));
  tracker_.fill(4, {"k", 0}, at(5));
  EXPECT_EQ(sent(), request({"SELECT", "3"}) + read + read + request({"SELECT", "0"}) + read);
  const std::string value = bulk("v") + integer(-1);
  EXPECT_THAT(hear(value + kOk + value + value + kOk + value),
              ElementsAre("filled 1 value sent 5 \"v\"", "filled 2 value sent 5 \"v\"",
                          "filled 3 value sent 5 \"v\"", "filled 4 value sent 5 \"v\""));
}

const std::string kNoDatabase = "-ERR DB index is out of range\r\n";

// After the refused SELECT, the server answers this fill from database 0.
TEST_F(Filling, ADatabaseThatIsNotThereConcernsItsOwnFills) {
  const std::string value = bulk("v") + integer(-1);
  tracker_.fill(1, {"k", 0}, at(5));
  tracker_.fill(2, {"k", 99}, at(5));
  tracker_.fill(3, {"k", 99}, at(5));
  tracker_.barrier(8, at(5));
  tracker_.fill(4, {"k", 0}, at(5));
  EXPECT_THAT(hear(value + kNoDatabase + value + value + integer(0) + kOk + value),
              ElementsAre("filled 1 value sent 5 \"v\"",
                          "filled 2 no database sent 5 ERR DB index is out of range",
                          "filled 3 no database sent 5 ERR DB index is out of range", "heartbeat 5",
                          "barrier 8", "filled 4 value sent 5 \"v\""));
  EXPECT_TRUE(tracker_.up());
}

TEST_F(Filling, AfterARefusedDatabaseTheNextIsSelectedWhicheverItIs) {
  const std::string value = bulk("v") + integer(-1);
  const std::string read = request({"GETRANGE", "k", "0", "10"}) + request({"PTTL", "k"});
  for (const std::string db : {"0", "99", "3"}) {
    tracker_.fill(1, {"k", 99}, at(5));
    hear(kNoDatabase + value);
    sent();
    tracker_.fill(2, {"k", static_cast<std::uint32_t>(std::stoul(db))}, at(6));
    EXPECT_EQ(sent(), request({"SELECT", db}) + read);
    hear((db == "99" ? kNoDatabase : kOk) + value);
  }
}

// A later SELECT has been sent meanwhile, and its result counts.
TEST_F(Filling, ADatabaseAskedForBehindARefusedOneIsKept) {
  const std::string value = bulk("v") + integer(-1);
  tracker_.fill(1, {"k", 99}, at(5));
  tracker_.fill(2, {"k", 3}, at(5));
  sent();
  hear(kNoDatabase + value);
  tracker_.fill(3, {"k", 3}, at(6));
  EXPECT_THAT(sent(), Not(HasSubstr("SELECT")));
  EXPECT_THAT(hear(kOk + value + value),
              ElementsAre("filled 2 value sent 5 \"v\"", "filled 3 value sent 6 \"v\""));
}

TEST_F(Filling, ADatabaseThatIsRefusedForAMomentFailsTheFillOnly) {
  tracker_.fill(1, {"k", 3}, at(5));
  const std::string busy = "-BUSY Redis is busy running a script.\r\n";
  EXPECT_THAT(hear(busy + busy + busy), ElementsAre("filled 1 failed sent 5"));
}

TEST_F(Filling, ARefusalIsForgottenWithItsConnection) {
  tracker_.fill(1, {"k", 99}, at(5));
  hear(kNoDatabase);
  tracker_.disconnected("gone");
  tracker_.connected(at(6));
  hear(kPong + kHello + kCommands + kOk + kBeat, at(7));
  EXPECT_THAT(filled(bulk("v") + integer(-1)), ElementsAre("filled 7 value sent 5 \"v\""));
}

// Names that the server has to remember until they change.
TEST_F(Filling, NoMoreNamesAreReadThanTheServerMayRemember) {
  TrackerOptions few = options();
  few.names_max = 2;
  Tracker tracker(few, log_);
  tracker.connected(at(0));
  ASSERT_TRUE(tracker.received(kPong + kHello + kCommands + kOk + kBeat, at(1)).ok());
  const auto fill = [&](std::string_view name, const std::string& reply) {
    log_.take();
    tracker.fill(7, {name, 0}, at(5));
    EXPECT_TRUE(tracker.received(reply, at(6)).ok());
    return log_.take();
  };
  const std::string value = bulk("v") + integer(-1);
  EXPECT_THAT(fill("a", value), ElementsAre("filled 7 value sent 5 \"v\""));
  EXPECT_THAT(fill("b", value), ElementsAre("filled 7 value sent 5 \"v\""));
  tracker.output().clear();
  EXPECT_THAT(fill("c", ""), ElementsAre("filled 7 table full sent 5"));
  EXPECT_TRUE(tracker.output().view().empty()) << "it is not read";
  EXPECT_THAT(fill("a", value), ElementsAre("filled 7 value sent 5 \"v\""));
  EXPECT_EQ(tracker.tracked_names(), 2U);
  EXPECT_THAT(fill("c", push({"b"})), ElementsAre("filled 7 table full sent 5", "invalidate b"));
  EXPECT_THAT(fill("c", value), ElementsAre("filled 7 value sent 5 \"v\""));
  ASSERT_TRUE(tracker.received(kFlushPush, at(7)).ok());
  EXPECT_EQ(tracker.tracked_names(), 0U);
}

TEST_F(Filling, MayBeAskedForFromWithinACallback) {
  tracker_.disconnected("x");
  log_.take();
  log_.when_up = [this] { tracker_.fill(9, {"k", 0}, at(2)); };
  tracker_.connected(at(2));
  hear(kPong + kHello + kCommands + kOk + kBeat, at(3));
  EXPECT_THAT(hear(bulk("v") + integer(-1), at(4)), ElementsAre("filled 9 value sent 2 \"v\""));
}

// Reads other than GET ask for the TTL first.
class FillingReads : public TrackerUp {
 protected:
  Lines read(const std::string& reply, resp::Resp2Form form = {}) {
    ask(form);
    return hear(reply, at(6));
  }
  void ask(resp::Resp2Form form = {}) {
    static constexpr std::array<std::string_view, 3> kRequest = {"HGET", "k", "f"};
    tracker_.fill(7, {.key = "k", .request = kRequest, .form = form}, at(5));
  }
};

TEST_F(FillingReads, AsksForTheTtlAndThenTheReply) {
  ask();
  EXPECT_EQ(sent(), request({"PTTL", "k"}) + request({"HGET", "k", "f"}));
}

TEST_F(FillingReads, AReplyIsGivenInBothProtocols) {
  EXPECT_THAT(read(integer(1500) + ":3\r\n"),
              ElementsAre("filled 7 value sent 5 ttl 1500 \":3 \""));
  EXPECT_THAT(read(integer(-1) + "_\r\n"), ElementsAre("filled 7 value sent 5 \"_  | $-1 \""));
  EXPECT_THAT(read(integer(-1) + "_\r\n", {.null_arrays = true}),
              ElementsAre("filled 7 value sent 5 \"_  | *-1 \""));
}

TEST_F(FillingReads, AMissingKeyIsNilWhateverTheReply) {
  EXPECT_THAT(read(integer(-2) + ":0\r\n"), ElementsAre("filled 7 nil sent 5"));
}

TEST_F(FillingReads, APushBetweenTheTwoRepliesSpoilsIt) {
  EXPECT_THAT(read(integer(-2) + push({"k"}) + ":1\r\n"),
              ElementsAre("invalidate k", "filled 7 nil sent 5 spoiled"));
  EXPECT_THAT(read(push({"k"}) + integer(-1) + ":1\r\n" + push({"k"})),
              ElementsAre("invalidate k", "filled 7 value sent 5 \":1 \"", "invalidate k"));
}

TEST_F(FillingReads, ErrorsAreRefused) {
  EXPECT_THAT(read(integer(-1) + "-WRONGTYPE x\r\n"), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(read("-NOPERM x\r\n:1\r\n"), ElementsAre("filled 7 refused sent 5"));
}

TEST_F(FillingReads, WhatHasNoFormInRespTwoIsRefused) {
  EXPECT_THAT(read(integer(-1) + "(12\r\n"), ElementsAre("filled 7 refused sent 5"));
}

TEST_F(FillingReads, AnOlderServerIsNotAskedForFields) {
  static constexpr std::array<std::string_view, 3> kRequest = {"HGET", "k", "f"};
  tracker_.fill(7, {.key = "k", .request = kRequest, .fields = FieldNames::kArguments}, at(5));
  EXPECT_EQ(sent(), request({"PTTL", "k"}) + request({"HGET", "k", "f"}));
}

// Copies may live longer than a client should wait for one.
class PatientTracker : public TrackerTest {
 protected:
  PatientTracker() {
    patient_.connected(at(0));
    hear_on(kPong + kHello + kCommands + kOk + kBeat, at(1));
    log_.take();
  }
  static TrackerOptions patient() {
    TrackerOptions made = options();
    made.max_staleness = std::chrono::seconds(5);
    made.fill_timeout = std::chrono::seconds(1);
    return made;
  }
  Lines hear_on(std::string_view bytes, TimePoint now) {
    EXPECT_TRUE(patient_.received(bytes, now).ok());
    return log_.take();
  }
  Lines tick(TimePoint now) {
    EXPECT_TRUE(patient_.tick(now).ok());
    return log_.take();
  }

  Tracker patient_{patient(), log_};
};

TEST_F(PatientTracker, WhoWaitsForAFillIsNotKeptWaiting) {
  patient_.fill(7, {"k", 0}, at(5));
  EXPECT_THAT(tick(at(1005)), IsEmpty());
  EXPECT_THAT(tick(at(1006)), ElementsAre("filled 7 failed sent 5"));
  EXPECT_TRUE(patient_.up());
  EXPECT_THAT(hear_on(bulk("v") + integer(-1), at(1500)), IsEmpty()) << "once is enough";
  patient_.fill(8, {"k", 0}, at(1501));
  EXPECT_THAT(hear_on(kHeart + bulk("v") + integer(-1), at(1502)),
              testing::Contains("filled 8 value sent 1501 \"v\""));
}

// Whether it comes in one piece or in many.
TEST_F(FillingReads, AReplyThatIsTooLongIsLetPass) {
  const std::string reply = integer(-1) + bulk(std::string(50, 'x'));
  EXPECT_THAT(read(reply), ElementsAre("filled 7 too big sent 5"));
  ask();
  Lines lines;
  for (const char byte : reply + integer(9)) {
    if (lines.empty()) lines = hear({&byte, 1});
  }
  EXPECT_THAT(lines, ElementsAre("filled 7 too big sent 5"));
  EXPECT_THAT(read(push({"a"}) + integer(-1) + bulk("x")),
              ElementsAre("invalidate a", "filled 7 value sent 5 \"x\""));
}

// Invalidations behind it would come late: docs/decisions/0007.
TEST_F(FillingReads, AReplyThatWouldHoldUpInvalidationsEndsTheConnection) {
  ask();
  EXPECT_THAT(error_of(integer(-1) + "*9000000\r\n"), HasSubstr("larger than 8mb"));
  EXPECT_THAT(log_.take(), ElementsAre("filled 7 too big sent 5"));
  tracker_.disconnected("x");
  EXPECT_THAT(log_.take(), ElementsAre("down"));
}

}  // namespace
}  // namespace heatsink::redis
