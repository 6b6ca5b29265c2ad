// SPDX-License-Identifier: Apache-2.0
// A whole session: replies leave in the order of the requests, whoever answers them and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SessionOrderTest : public SessionTest {
 protected:
  SessionOrderTest() { open_shared_connection(); }
};

TEST_F(SessionOrderTest, APipelineIsAnsweredInItsOrder) {
  send({"GET a", "SET b 1", "GET c"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "1: SET b 1", "1: GET c"));
  EXPECT_EQ(got(), "+GET a|+SET b 1|+GET c|");
}

TEST_F(SessionOrderTest, ARequestMayComeInPieces) {
  const std::string whole = wire_of("GET a");
  for (const char c : whole.substr(0, whole.size() - 1)) receive(std::string(1, c));
  EXPECT_THAT(asked(), IsEmpty());
  receive("\n");
  EXPECT_EQ(got(), "+GET a|");
}

TEST_F(SessionOrderTest, ABatchOfHitsIsOneWriteAndAsksNobody) {
  make_hot();
  client().writes = 0;
  std::string batch, replies;
  for (int i = 0; i < 16; ++i) {
    batch += wire_of("GET hot");
    replies += "$6|copied|";
  }
  receive(batch);
  EXPECT_EQ(got(), replies);
  EXPECT_EQ(client().writes, 1u);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionOrderTest, AHitStandsBehindCommandsInFlight) {
  make_hot();
  server_.unanswered = {"SET"};
  send({"SET a 1", "GET hot", "SET b 2", "GET hot"});
  EXPECT_EQ(count(copies::Count::kLocalHits), 2u);
  EXPECT_EQ(got(), "");
  server_.say(1, "+first\r\n");
  pass();
  EXPECT_EQ(got(), "+first|$6|copied|");
  server_.say(1, "+second\r\n");
  pass();
  EXPECT_EQ(got(), "+second|$6|copied|");
}

TEST_F(SessionOrderTest, AReadBehindTheClientsOwnWriteOfThatKeyIsNoHit) {
  make_hot();
  server_.unanswered = {"SET"};
  send({"SET hot 1", "GET hot"});
  EXPECT_EQ(count(copies::Count::kLocalHits), 0u);
  EXPECT_THAT(asked(), ElementsAre("1: SET hot 1", "1: GET hot"));
}

TEST_F(SessionOrderTest, NoMoreIsInFlightThanThePipelineLimit) {
  server_.unanswered = {"GET"};
  send({"GET 1", "GET 2", "GET 3", "GET 4", "GET 5", "GET 6"});
  EXPECT_THAT(asked(), ElementsAre("1: GET 1", "1: GET 2", "1: GET 3", "1: GET 4"));
  server_.say(1, "+one\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("1: GET 5"));
  EXPECT_EQ(got(), "+one|");
}

// A session forwards such reads in one go, and must do for each what it does for a single one.
TEST_F(SessionOrderTest, ARunOfReadsIsCountedReadByRead) {
  const std::uint64_t commands = count(copies::Count::kCommands);
  const std::uint64_t forwarded = count(copies::Count::kForwardedShared);
  send({"GET a", "get b", "GET c"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "1: get b", "1: GET c"));
  EXPECT_EQ(got(), "+GET a|+get b|+GET c|");
  EXPECT_EQ(count(copies::Count::kCommands), commands + 3);
  EXPECT_EQ(count(copies::Count::kForwardedShared), forwarded + 3);
}

// The same for plain writes.
TEST_F(SessionOrderTest, ARunOfWritesIsCountedWriteByWrite) {
  make_hot();
  const std::uint64_t commands = count(copies::Count::kCommands);
  server_.unanswered = {"SET", "set", "GET"};
  send({"SET a 1", "set hot 2 ex 60", "GET hot"});
  EXPECT_THAT(asked(), ElementsAre("1: SET a 1", "1: set hot 2 ex 60", "1: GET hot"))
      << "no copy answers behind a write of its key";
  EXPECT_EQ(count(copies::Count::kCommands), commands + 3);
  const NameHash hot = hash_name("hot", host_.shared.seed);
  EXPECT_TRUE(host_.shared.fences.write_in_flight(hot));
  server_.say(1, "+OK\r\n+OK\r\n+2\r\n");
  pass();
  EXPECT_FALSE(host_.shared.fences.write_in_flight(hot));
  EXPECT_EQ(got(), "+OK|+OK|+2|");
}

TEST_F(SessionOrderTest, WritesOfATransactionGoToItsConnection) {
  send({"SET a 1", "MULTI", "SET b 2", "SET c 3", "EXEC"});
  EXPECT_THAT(asked(),
              ElementsAre("1: SET a 1", "2: MULTI", "2: SET b 2", "2: SET c 3", "2: EXEC"));
}

TEST_F(SessionOrderTest, AWriteTooLongToBeBufferedIsNotShared) {
  const std::string value(990, 'v');  // the request is longer than the 1000 bytes of the threshold
  send({"SET a 1", "SET b " + value});
  EXPECT_THAT(asked(), ElementsAre("1: SET a 1", "2: SET b " + value));
}

TEST_F(SessionOrderTest, AHitAmongReadsIsNotForwarded) {
  make_hot();
  server_.unanswered = {"GET"};
  send({"GET a", "GET hot", "GET b"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "1: GET b"));
  EXPECT_EQ(count(copies::Count::kLocalHits), 1u);
  server_.say(1, "+a\r\n+b\r\n");
  pass();
  EXPECT_EQ(got(), "+a|$6|copied|+b|");
}

// Longer than what the session looks up at once, with each order of hits and others.
TEST_F(SessionOrderTest, ALongBatchOfHitsAndOthersKeepsItsOrder) {
  make_hot();
  std::string batch, replies;
  for (unsigned i = 0; i < 150; ++i) {
    const bool is_hit = (i * i / 3 + i) % 3 == 0;
    const std::string get = is_hit ? "GET hot" : "GET cold:" + std::to_string(i);
    batch += wire_of(i % 37 == 36 ? "ECHO x" : get);
    replies += i % 37 == 36 ? "+ECHO x|" : is_hit ? "$6|copied|" : "+" + get + "|";
  }
  receive(batch);
  pass();
  EXPECT_EQ(got(), replies);
}

TEST_F(SessionOrderTest, ReadsGoToTheDatabaseOfTheClient) {
  send({"SELECT 2", "GET a", "GET b"});
  EXPECT_THAT(asked(),
              ElementsAre(testing::EndsWith(": SELECT 2"), "1: SELECT 2", "1: GET a", "1: GET b"));
}

TEST_F(SessionOrderTest, AReadTooLongToBeBufferedIsNotShared) {
  const std::string key(990, 'k');  // the request is longer than the 1000 bytes of the threshold
  send({"GET a", "GET " + key});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "2: GET " + key));
}

TEST_F(SessionOrderTest, AnErrorOfTheProxysKeepsItsPlace) {
  server_.unanswered = {"GET"};
  receive(wire_of("GET a") + "*x\r\n");
  EXPECT_EQ(got(), "");
  EXPECT_FALSE(client().is_closed);
  server_.say(1, "+a\r\n");
  pass();
  EXPECT_EQ(got(), "+a|-ERR Protocol error: invalid multibulk length|");
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionOrderTest, HitsInFrontOfAMissLeaveWithItsReplyInOneWrite) {
  make_hot();
  client().writes = 0;
  send({"GET hot", "GET a"});
  EXPECT_EQ(got(), "$6|copied|+GET a|");
  EXPECT_EQ(client().writes, 1U);
}

TEST_F(SessionOrderTest, HitsInFrontOfASlowMissLeaveWithinMilliseconds) {
  make_hot();
  server_.unanswered = {"GET"};
  node_.post([this] {
    host_.session->received(wire_of("GET hot") + wire_of("GET a"), host_.loop.clock());
  });
  pass(Millis(1));
  EXPECT_EQ(got(), "");
  pass(2 * proxy::HeldOutputs::kLongest);
  EXPECT_EQ(got(), "$6|copied|");
}

TEST_F(SessionOrderTest, ASkippedReplyLeavesNoGap) {
  send({"CLIENT REPLY SKIP", "GET a", "GET b"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "1: GET b"));
  EXPECT_EQ(got(), "+GET b|");
}

TEST_F(SessionOrderTest, HeldRepliesAreWrittenOnceAllHoldsAreReleased) {
  in_turn([this] {
    host_.session->hold();
    host_.session->hold();
  });
  send({"GET a"});
  in_turn([this] { host_.session->release_hold(); });
  EXPECT_EQ(got(), "");
  in_turn([this] { host_.session->release_hold(); });
  EXPECT_EQ(got(), "+GET a|");
}

// Asked again on a connection of the client's own; what was in flight behind it is answered behind
// it.
TEST_F(SessionOrderTest, AReplyTooBigToShareKeepsItsPlace) {
  const std::string big = "$2000\r\n" + std::string(2000, 'x') + "\r\n";
  server_.replies["GET a"] = big;
  send({"GET a", "GET b"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a", "1: GET b", "2: GET a"));
  EXPECT_EQ(got(), lines_of(big) + "+GET b|");
}

TEST_F(SessionOrderTest, AReplyTooBigToShareIsAnErrorWithoutAConnectionForIt) {
  host_.shared.private_connections = 10'000;  // other clients have them all
  server_.replies["GET a"] = "$2000\r\n" + std::string(2000, 'x') + "\r\n";
  send({"GET a", "GET b"});
  EXPECT_EQ(got(),
            "-ERR heatsink: a read that had to be sent again, on a private connection, failed: all "
            "proxy.maximum-private-connections are in use; try again later or raise the limit|"
            "+GET b|");
  host_.shared.private_connections = 0;
}

}  // namespace
}  // namespace heatsink::simulation
