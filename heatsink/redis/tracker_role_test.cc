// SPDX-License-Identifier: Apache-2.0
// The questions of each heartbeat: whether the server is a replica, and which slots it owns.
#include "heatsink/redis/tracker_fixture_for_test.h"

namespace heatsink::redis {
namespace {

std::string hello(std::string_view mode, std::string_view role) {
  return "%2\r\n" + bulk("mode") + bulk(mode) + bulk("role") + bulk(role);
}

std::string nodes(std::string_view slots) {
  const std::string text = "txt:aa :1@2 myself,master - 0 0 1 connected " + std::string(slots);
  return "=" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

using Role = TrackerTest;

TEST_F(Role, AReplicaIsRefusedAtTheDoor) {
  EXPECT_THAT(error_of(kPong + hello("standalone", "replica")), HasSubstr("replica"));
}

TEST_F(Role, ASentinelIsNamed) {
  EXPECT_THAT(error_of(kPong + hello("sentinel", "master")), HasSubstr("this is a Sentinel"));
}

TEST_F(Role, AMasterThatIsDemotedIsGivenUpBeforeItsNextProof) {
  for (const char* role : {"replica", "slave"}) {
    Tracker tracker(options(), log_);
    tracker.connected(at(0));
    const std::string handshake = kPong + hello("standalone", "master") + kCommands + kOk + kBeat;
    ASSERT_TRUE(tracker.received(handshake, at(1)).ok());
    log_.take();
    ASSERT_TRUE(tracker.tick(at(100)).ok());
    EXPECT_FALSE(tracker.received(hello("standalone", role) + kBeat, at(101)).ok()) << role;
    EXPECT_THAT(log_.take(), IsEmpty()) << role;
  }
}

TEST_F(Role, WhatDoesNotSayItIsNoProof) {
  for (const std::string answer : {"-NOPERM x\r\n", ":0\r\n", "$-1\r\n"}) {
    Tracker tracker(options(), log_);
    tracker.connected(at(0));
    ASSERT_TRUE(tracker.received(kPong + kHello + kCommands + kOk + kBeat, at(1)).ok());
    ASSERT_TRUE(tracker.tick(at(100)).ok());
    const Status heard = tracker.received(answer, at(101));
    ASSERT_FALSE(heard.ok()) << answer;
    EXPECT_THAT(heard.error().message, HasSubstr("HELLO"));
  }
}

// Connected to a cluster node that owns the slots 1 to 5. Up since 100 ms.
class Slots : public TrackerTest {
 protected:
  Slots() {
    hear(kPong + hello("cluster", "master") + kCommands + kOk + kBeat);
    EXPECT_FALSE(tracker_.up()) << "its slots are not known yet";
    beat(at(100), nodes("1-5"));
    EXPECT_TRUE(tracker_.up());
    sent();
  }

  Lines beat(TimePoint now, const std::string& map) {
    EXPECT_TRUE(tracker_.tick(now).ok());
    return hear(hello("cluster", "master") + map + kBeat, now);
  }
};

TEST_F(Slots, AreAskedForBetweenRoleAndProof) {
  ASSERT_TRUE(tracker_.tick(at(200)).ok());
  EXPECT_EQ(sent(),
            request({"HELLO", "3"}) + request({"CLUSTER", "NODES"}) + request({"EXISTS", "hb"}));
}

TEST_F(Slots, AsBeforeAreNoNews) {
  log_.take();
  EXPECT_THAT(beat(at(200), nodes("1-5")), ElementsAre("heartbeat 200"));
}

TEST_F(Slots, OthersThanBeforeFlushAndSpoilWhatIsHalfFilled) {
  log_.take();
  ASSERT_TRUE(tracker_.tick(at(200)).ok());
  tracker_.fill(7, {"k", 0}, at(200));
  EXPECT_THAT(hear(hello("cluster", "master") + nodes("1-4") + kBeat, at(201)),
              ElementsAre("flush", "heartbeat 200"));
  EXPECT_THAT(hear("-MOVED 5 :1\r\n-MOVED 5 :1\r\n", at(202)),
              ElementsAre("filled 7 refused sent 200"));
  EXPECT_THAT(beat(at(300), nodes("1-4")), ElementsAre("heartbeat 300"));
}

TEST_F(Slots, OnTheMoveFlush) {
  log_.take();
  EXPECT_THAT(beat(at(200), nodes("1-5 [5->-bb]")), ElementsAre("flush", "heartbeat 200"));
}

TEST_F(Slots, AClusterThatDoesNotTellThemIsGivenUp) {
  ASSERT_TRUE(tracker_.tick(at(200)).ok());
  EXPECT_THAT(error_of(hello("cluster", "master") + "-NOPERM x\r\n", at(201)),
              HasSubstr("CLUSTER NODES"));
}

TEST_F(Slots, AreForgottenWithTheConnection) {
  tracker_.disconnected("gone");
  tracker_.connected(at(300));
  log_.take();
  hear(kPong + hello("cluster", "master") + kCommands + kOk + kBeat, at(301));
  EXPECT_THAT(beat(at(400), nodes("7")), ElementsAre("up", "heartbeat 400"));
}

}  // namespace
}  // namespace heatsink::redis
