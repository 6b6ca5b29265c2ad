// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "heatsink/redis/tracker_fixture_for_test.h"

namespace heatsink::redis {
namespace {

using Handshake = TrackerTest;

const std::string kRestOfHandshake =
    request({"COMMAND"}) + request({"CLIENT", "TRACKING", "ON"}) + request({"EXISTS", "hb"});

TEST_F(Handshake, AsksForAllAtOnce) {
  EXPECT_EQ(sent(), request({"PING"}) + request({"HELLO", "3", "SETNAME", "heatsink-tracker"}) +
                        kRestOfHandshake);
  EXPECT_FALSE(tracker_.up());
}

TEST_F(Handshake, GivesItsCredentials) {
  TrackerOptions options = TrackerTest::options();
  options.credentials = {"", "secret"};
  Tracker tracker(options, log_);
  tracker.connected(at(0));
  EXPECT_EQ(tracker.output().view(), request({"PING"}) +
                                         request({"HELLO", "3", "AUTH", "default", "secret",
                                                  "SETNAME", "heatsink-tracker"}) +
                                         kRestOfHandshake);
}

TEST_F(Handshake, AServerThatCannotAnswerNowIsNotOneThatWantsALogin) {
  EXPECT_THAT(hear("-BUSY Redis is busy running a script.\r\n"),
              ElementsAre("facts  open no commands"));
}

TEST_F(Handshake, TellsFactsAsTheyComeAndIsUpWithTheFirstProof) {
  EXPECT_THAT(hear(kPong), ElementsAre("facts  open no commands"));
  EXPECT_THAT(hear(kHello), IsEmpty());
  EXPECT_THAT(hear(kCommands), ElementsAre("facts 7.0.15 open commands"));
  EXPECT_THAT(hear(kOk), IsEmpty());
  EXPECT_FALSE(tracker_.up());
  EXPECT_THAT(hear(kBeat), ElementsAre("up", "heartbeat 0"));
  EXPECT_TRUE(tracker_.up());
}

TEST_F(Handshake, AServerWithAPasswordIsNotOpen) {
  EXPECT_THAT(hear("-NOAUTH Authentication required.\r\n"),
              ElementsAre("facts  closed no commands"));
  EXPECT_THAT(hear(kHello + kCommands + kOk + kBeat),
              ElementsAre("facts 7.0.15 closed commands", "up", "heartbeat 0"));
}

TEST_F(Handshake, GoesOnWhenCommandIsForbidden) {
  EXPECT_THAT(
      hear(kPong + kHello + "-NOPERM no permission\r\n" + kOk + kBeat),
      ElementsAre("facts  open no commands", "facts 7.0.15 open no commands", "up", "heartbeat 0"));
}

TEST_F(Handshake, FailsWithoutResp3) {
  EXPECT_THAT(error_of(kPong + "-ERR unknown command 'HELLO'\r\n"),
              AllOf(HasSubstr("RESP3"), HasSubstr("unknown command 'HELLO'")));
}

TEST_F(Handshake, FailsWithAWrongPassword) {
  EXPECT_THAT(error_of(kPong + "-WRONGPASS invalid username-password pair\r\n"),
              HasSubstr("WRONGPASS"));
}

TEST_F(Handshake, FailsWithoutTracking) {
  EXPECT_THAT(error_of(kPong + kHello + kCommands + "-NOPERM no 'client|tracking'\r\n"),
              AllOf(HasSubstr("CLIENT TRACKING"), HasSubstr("NOPERM")));
}

TEST_F(Handshake, FailsWhileTheServerLoads) {
  EXPECT_THAT(error_of(kPong + kHello + kCommands + kOk + "-LOADING Redis is loading\r\n"),
              HasSubstr("LOADING"));
  EXPECT_FALSE(tracker_.up());
}

TEST_F(Handshake, AProofOlderThanMaxStalenessIsNoneButTheNextMayBe) {
  EXPECT_THAT(hear(kPong + kHello + kCommands + kOk + kBeat, at(1001)),
              ElementsAre("facts  open no commands", "facts 7.0.15 open commands", "heartbeat 0"));
  EXPECT_FALSE(tracker_.up());
  sent();
  ASSERT_TRUE(tracker_.tick(at(1002)).ok());
  EXPECT_EQ(sent(), heartbeat());
  EXPECT_THAT(hear(kHeart, at(1003)), ElementsAre("up", "heartbeat 1002"));
}

TEST_F(Handshake, ASilentServerIsGivenUp) {
  EXPECT_TRUE(tracker_.tick(at(10'000)).ok());
  EXPECT_FALSE(tracker_.tick(at(10'001)).ok());
}

TEST_F(Handshake, NothingCanBeFilledBeforeTheEndOfIt) {
  sent();
  tracker_.fill(1, {"k", 0}, at(1));
  tracker_.barrier(2, at(1));
  EXPECT_THAT(log_.take(), ElementsAre("filled 1 failed sent 1", "barrier 2"));
  EXPECT_EQ(sent(), "");
}

TEST_F(Handshake, StartsAfreshAfterADisconnection) {
  bring_up();
  tracker_.fill(1, {"k", 3}, at(2));
  EXPECT_THAT(hear("$5\r\nab"), IsEmpty());  // half a reply is lost with its connection
  tracker_.disconnected("gone");
  EXPECT_THAT(log_.take(), ElementsAre("down", "filled 1 failed sent 2"));
  EXPECT_EQ(log_.last_reason, "gone");
  EXPECT_EQ(sent(), "");
  tracker_.connected(at(100));
  sent();
  EXPECT_THAT(
      hear(kPong + kHello + kCommands + kOk + kBeat, at(101)),
      ElementsAre("facts  open no commands", "facts 7.0.15 open commands", "up", "heartbeat 100"));
  tracker_.fill(2, {"k", 0}, at(102));  // a new connection is in database 0 again
  EXPECT_THAT(sent(), Not(HasSubstr("SELECT")));
}

TEST_F(Handshake, ADisconnectionIsToldOnce) {
  tracker_.disconnected("refused");
  tracker_.disconnected("again");
  EXPECT_THAT(log_.take(), ElementsAre("down"));
}

using Heartbeat = TrackerUp;

TEST_F(Heartbeat, IsSentEveryIntervalAndOneIsInFlight) {
  ASSERT_TRUE(tracker_.tick(at(99)).ok());
  EXPECT_EQ(sent(), "");
  ASSERT_TRUE(tracker_.tick(at(100)).ok());
  EXPECT_EQ(sent(), heartbeat());
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  EXPECT_EQ(sent(), "");
  EXPECT_THAT(hear(kHeart, at(310)), ElementsAre("heartbeat 100"));  // the time when it was sent
  ASSERT_TRUE(tracker_.tick(at(311)).ok());
  EXPECT_EQ(sent(), heartbeat());
}

TEST_F(Heartbeat, AnErrorIsNoProof) {
  for (const char* error : {"-MOVED 1 127.0.0.1:7", "-CLUSTERDOWN x", "-LOADING x", "-MASTERDOWN x",
                            "-NOPERM x", "-READONLY x", "-NOAUTH x", "-ERR x"}) {
    Tracker tracker(options(), log_);
    tracker.connected(at(0));
    ASSERT_TRUE(tracker.received(kPong + kHello + kCommands + kOk + kBeat, at(1)).ok());
    log_.take();
    ASSERT_TRUE(tracker.tick(at(100)).ok());
    EXPECT_FALSE(tracker.received(kHello + error + "\r\n", at(101)).ok()) << error;
    EXPECT_THAT(log_.take(), IsEmpty()) << error;
  }
}

TEST_F(Heartbeat, ALateOneStallsAndTheNextTimelyOneRevives) {
  ASSERT_TRUE(tracker_.tick(at(100)).ok());
  tracker_.fill(1, {"k", 0}, at(150));
  tracker_.barrier(2, at(160));
  ASSERT_TRUE(tracker_.tick(at(1100)).ok());
  EXPECT_THAT(log_.take(), IsEmpty());
  ASSERT_TRUE(tracker_.tick(at(1101)).ok());
  EXPECT_THAT(log_.take(), ElementsAre("down", "barrier 2", "filled 1 failed sent 150"));
  EXPECT_FALSE(tracker_.up());
  // The late answers: invalidations still count; the fill and the barrier have ended already.
  EXPECT_THAT(hear(kHeart + push({"k"}) + bulk("v") + integer(-1) + integer(0), at(1300)),
              ElementsAre("heartbeat 100", "invalidate k", "heartbeat 160"));
  EXPECT_FALSE(tracker_.up());
  ASSERT_TRUE(tracker_.tick(at(1301)).ok());
  EXPECT_THAT(hear(kHeart, at(1302)), ElementsAre("up", "heartbeat 1301"));
}

TEST_F(Heartbeat, AServerSilentForTheResponseTimeoutIsGivenUp) {
  ASSERT_TRUE(tracker_.tick(at(100)).ok());
  ASSERT_TRUE(tracker_.tick(at(10'100)).ok());
  EXPECT_FALSE(tracker_.tick(at(10'101)).ok());
}

using Barrier = TrackerUp;

TEST_F(Barrier, ComesAfterTheInvalidationsBeforeItAndProves) {
  tracker_.barrier(5, at(20));
  EXPECT_EQ(sent(), request({"EXISTS", "hb"}));
  EXPECT_THAT(hear(push({"k"}) + kBeat, at(21)),
              ElementsAre("invalidate k", "heartbeat 20", "barrier 5"));
}

TEST_F(Barrier, IsToldAlsoWhenTheServerAnswersWithAnError) {
  tracker_.barrier(5, at(20));
  EXPECT_NE(error_of("-NOPERM x\r\n"), "no error");
  tracker_.disconnected("x");
  EXPECT_THAT(log_.take(), ElementsAre("down", "barrier 5"));
}

TEST_F(Barrier, IsToldAfterTheCopiesHaveDiedWithTheConnection) {
  tracker_.barrier(5, at(20));
  tracker_.barrier(6, at(20));
  tracker_.disconnected("x");
  EXPECT_THAT(log_.take(), ElementsAre("down", "barrier 5", "barrier 6"));
}

using Hostile = TrackerUp;

TEST_F(Hostile, GarbageIsAnError) {
  for (const char* bytes :
       {"hello\r\n", "*-5\r\n", "$-2\r\n", "$999999999999\r\n", "*2147483648\r\n", ":x\r\n"}) {
    Tracker tracker(options(), log_);
    tracker.connected(at(0));
    EXPECT_FALSE(tracker.received(bytes, at(1)).ok()) << bytes;
  }
}

TEST_F(Hostile, AReplyThatNobodyAskedForIsAnError) {
  EXPECT_THAT(error_of(kOk), HasSubstr("a reply without a request"));
}

TEST_F(Hostile, AnInvalidationThatCannotBeReadIsAnErrorAndNotIgnored) {
  const std::string kind = bulk("invalidate");
  for (const std::string& rest :
       {">1\r\n" + kind, ">2\r\n" + kind + ":1\r\n", ">2\r\n" + kind + "*1\r\n:1\r\n"}) {
    Tracker tracker(options(), log_);
    tracker.connected(at(0));
    EXPECT_FALSE(tracker.received(rest, at(1)).ok()) << rest;
  }
}

TEST_F(Hostile, OtherPushesAreIgnored) {
  EXPECT_THAT(hear(">2\r\n$7\r\nmessage\r\n$1\r\nx\r\n>0\r\n"), IsEmpty());
}

TEST_F(Hostile, AWrongTypeInAnswerToAHeartbeatIsNoProof) {
  ASSERT_TRUE(tracker_.tick(at(100)).ok());
  EXPECT_NE(error_of(kHello + kOk, at(101)), "no error");
  EXPECT_THAT(log_.take(), IsEmpty());
}

TEST_F(Hostile, OneErrorEndsWhatComesBehindIt) {
  tracker_.barrier(5, at(20));
  EXPECT_NE(error_of("-NOPERM x\r\n" + push({"k"})), "no error");
  EXPECT_THAT(log_.take(), IsEmpty());
}

// The events are the same however the network splits the bytes.
class Splitting : public testing::Test {
 protected:
  static constexpr int kFills = 4;

  static std::string conversation() {
    return kPong + kHello + kCommands + kOk + kBeat + push({"a", "k1"}) + bulk("v\r\n1") +
           integer(100) + bulk("") + push({"k2", ""}) + integer(-2) + kFlushPush +
           "-WRONGTYPE x\r\n" + integer(-1) + bulk("0123456789ab") + integer(-1) + kBeat;
  }

  // Feeds pieces that end at `cuts`, in rising order.
  static Lines told(const std::vector<std::size_t>& cuts) {
    TrackerLog log;
    TrackerOptions options;
    options.value_bytes_max = 10;
    Tracker tracker(options, log);
    log.when_up = [&] {
      for (int i = 1; i <= kFills; ++i) {
        const std::string key = "k" + std::to_string(i);
        tracker.fill(static_cast<FillId>(i), {key, 0}, at(1));
      }
      tracker.barrier(1, at(1));
    };
    tracker.connected(at(0));
    const std::string bytes = conversation();
    std::size_t begin = 0;
    for (std::size_t cut : cuts) {
      EXPECT_TRUE(tracker.received(std::string_view(bytes).substr(begin, cut - begin), at(1)).ok());
      begin = cut;
    }
    EXPECT_TRUE(tracker.received(std::string_view(bytes).substr(begin), at(1)).ok());
    return log.take();
  }
};

TEST_F(Splitting, TheWholeAtOnce) {
  EXPECT_THAT(told({}),
              ElementsAre("facts  open no commands", "facts 7.0.15 open commands", "up",
                          "heartbeat 0", "invalidate a", "invalidate k1",
                          "filled 1 value sent 1 ttl 100 \"v\r\n1\"", "invalidate k2",
                          "invalidate ", "filled 2 nil sent 1", "flush", "filled 3 refused sent 1",
                          "filled 4 too big sent 1", "heartbeat 1", "barrier 1"));
}

TEST_F(Splitting, AtEveryPlace) {
  const Lines whole = told({});
  for (std::size_t cut = 0; cut <= conversation().size(); ++cut) {
    ASSERT_EQ(told({cut}), whole) << cut;
  }
}

TEST_F(Splitting, IntoManyPieces) {
  const Lines whole = told({});
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t spacing = 1 + random() % 16;  // 1: byte by byte
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < conversation().size(); ++i) {
      if (random() % spacing == 0) cuts.push_back(i);
    }
    ASSERT_EQ(told(cuts), whole) << "round " << round;
  }
}

}  // namespace
}  // namespace heatsink::redis
