// SPDX-License-Identifier: Apache-2.0
// A whole session: which connection carries a command, what waits for it, and what a lost one
// costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SessionConnectionsTest : public SessionTest {
 protected:
  SessionConnectionsTest() { open_shared_connection(); }
};

TEST_F(SessionConnectionsTest, ATransactionBorrowsAConnectionAndGivesItBack) {
  server_.replies = {{"SET", "+QUEUED\r\n"}, {"EXEC", "*1\r\n+OK\r\n"}};
  server_.unanswered = {"MULTI"};
  send({"MULTI", "SET a 1", "EXEC", "GET b"});
  // Nothing is sent before the server has begun the transaction: it would be executed at once.
  EXPECT_THAT(asked(), ElementsAre("2: MULTI"));
  server_.say(2, "+OK\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("2: SET a 1", "2: EXEC", "2: GET b"));
  EXPECT_EQ(got(), "+OK|+QUEUED|*1|+OK|+GET b|");
  server_.unanswered.clear();
  send({"GET c"});
  EXPECT_THAT(asked(), ElementsAre("1: GET c"));
  send({"MULTI", "EXEC"});
  EXPECT_THAT(asked(), ElementsAre("2: MULTI", "2: EXEC"));
}

// A limit refuses the WATCH: the next worker refuses the transaction.
class RefusedWatchTest : public SessionTest {
 protected:
  RefusedWatchTest() : SessionTest(limited()) { open_shared_connection(); }

  static policy::ProxyOptions limited() {
    policy::ProxyOptions options = session_options();
    options.rules.emplace_back();
    options.rules.back().match = "limited";
    options.rules.back().limit_rate = "1/s";
    options.rules.back().limit_burst = 1;
    return options;
  }
  void move() {
    in_turn([this] {
      ASSERT_TRUE(host_.session->may_move());
      proxy::MovedSession moved = host_.session->move_out();
      host_.session =
          std::make_unique<proxy::Session>(host_.parts, host_, host_.client, std::move(moved));
    });
  }
};

TEST_F(RefusedWatchTest, TheClientMoves) {
  send({"GET limited", "WATCH limited"});
  EXPECT_THAT(got(), AllOf(StartsWith("+GET limited|-"), HasSubstr("limit")));
  move();
  send({"MULTI", "SET a 1", "EXEC"});
  EXPECT_THAT(got(),
              AllOf(HasSubstr("WATCH before this MULTI was refused"), HasSubstr("-EXECABORT")));
  move();
  send({"WATCH a", "MULTI", "EXEC"});
  EXPECT_EQ(got(), "+WATCH a|+MULTI|+EXEC|");
}

TEST_F(RefusedWatchTest, ResetForgetsIt) {
  send({"GET limited", "WATCH limited"});
  move();
  send({"RESET"});
  got();
  asked();
  send({"MULTI"});
  EXPECT_THAT(asked(), ElementsAre(EndsWith(": MULTI")));
}

TEST_F(SessionConnectionsTest, AnotherConnectionIsNotUsedWhileCommandsAreInFlight) {
  server_.unanswered = {"GET"};
  send({"GET a", "EVAL x 0", "GET b"});
  EXPECT_THAT(asked(), ElementsAre("1: GET a"));
  server_.say(1, "+a\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("2: EVAL x 0", "2: GET b"));
  server_.say(2, "+b\r\n");
  pass();
  EXPECT_EQ(got(), "+a|+EVAL x 0|+b|");
}

// The read is sent again on a private connection, which a command that waits must not take.
TEST_F(SessionConnectionsTest, ACommandBehindABigReplyGoesOn) {
  server_.replies["GET"] = "$3000\r\n" + std::string(3000, 'v') + "\r\n";
  server_.replies["BLPOP"] = "*-1\r\n";
  send({"GET big", "BLPOP k 1", "EVAL x 0"});
  EXPECT_THAT(got(), EndsWith("|*-1|+EVAL x 0|"));
  send({"GET big"});  // alone, and the command comes while its connection is being opened
  got();
  server_.replies.erase("GET");
  send({"GET c", "BLPOP k 1"});
  EXPECT_EQ(got(), "+GET c|*-1|");
}

TEST_F(SessionConnectionsTest, WhatFollowsSelectWaitsForItsAnswer) {
  server_.unanswered = {"SELECT"};
  send({"SELECT 3", "GET a"});
  EXPECT_THAT(asked(), ElementsAre("1: SELECT 3"));
  server_.unanswered.clear();
  server_.say(1, "+OK\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("1: SELECT 3", "1: GET a"));
  EXPECT_EQ(got(), "+OK|+GET a|");
  send({"SELECT 0"});  // where this connection has been: the proxy knows the answer
  EXPECT_EQ(got(), "+OK|");
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionConnectionsTest, ARefusedSelectChangesNothing) {
  server_.replies["SELECT 99"] = "-ERR DB index is out of range\r\n";
  send({"SELECT 99", "GET a"});
  EXPECT_THAT(asked(), ElementsAre("1: SELECT 99", "1: SELECT 0", "1: GET a"));
  EXPECT_EQ(got(), "-ERR DB index is out of range|+GET a|");
}

TEST_F(SessionConnectionsTest, ResetGivesUpTheConnectionAndTheDatabase) {
  send({"SELECT 3", "WATCH a"});
  EXPECT_THAT(asked(), ElementsAre("1: SELECT 3", "2: SELECT 3", "2: WATCH a"));
  send({"RESET", "GET b"});
  EXPECT_THAT(asked(), ElementsAre("1: SELECT 0", "1: GET b"));
  EXPECT_EQ(got(), "+SELECT 3|+WATCH a|+RESET|+GET b|");
  send({"WATCH a"});  // the other one had its state, so it was closed
  EXPECT_THAT(asked(), ElementsAre("3: WATCH a"));
}

TEST_F(SessionConnectionsTest, HalfAReplyCannotBeTakenBack) {
  server_.unanswered = {"GET"};
  send({"GET a", "GET b"});
  server_.say(1, "$10\r\nhalf");
  pass();
  EXPECT_EQ(got(), "$10|half");
  server_.hang_up(1);
  pass();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionConnectionsTest, AClientWhoseStateIsLostIsDisconnected) {
  send({"WATCH a"});
  server_.hang_up(2);
  pass();
  EXPECT_EQ(got(), "+WATCH a|");
  EXPECT_TRUE(client().is_closed);
}

TEST_F(SessionConnectionsTest, AnIdleConnectionThatIsLostConcernsNobody) {
  send({"EVAL x 0"});
  EXPECT_THAT(asked(), ElementsAre("2: EVAL x 0"));
  server_.hang_up(2);
  pass();
  EXPECT_FALSE(client().is_closed);
  send({"EVAL y 0"});
  EXPECT_THAT(asked(), ElementsAre("3: EVAL y 0"));
}

TEST_F(SessionConnectionsTest, WithoutAConnectionATransactionFailsAsAWhole) {
  host_.shared.private_connections = 10'000;  // other clients have them all
  send({"MULTI", "SET a 1", "EXEC", "GET b"});
  const std::string replies = got();
  EXPECT_THAT(replies, StartsWith("+OK|-ERR heatsink: all proxy.maximum-private-connections are"));
  EXPECT_THAT(replies, EndsWith("|-EXECABORT Transaction discarded because of previous errors.|"
                                "+GET b|"));
  EXPECT_THAT(asked(), ElementsAre("1: GET b"));
  host_.shared.private_connections = 0;
}

// ---- requests too big to be buffered

TEST_F(SessionConnectionsTest, AnOversizedRequestIsSentAsItComes) {
  const std::string big = "SET a " + std::string(3000, 'v');
  server_.replies["SET"] = "+OK\r\n";
  receive(wire_of(big).substr(0, 1500));
  EXPECT_THAT(got(), IsEmpty());
  receive(wire_of(big).substr(1500) + wire_of("GET b"));
  EXPECT_THAT(asked(), ElementsAre("2: " + big, "2: GET b"));
  EXPECT_EQ(got(), "+OK|+GET b|");
}

TEST_F(SessionConnectionsTest, AnOversizedRequestWaitsUntilNothingIsInFlight) {
  const std::string big = "SET a " + std::string(3000, 'v');
  server_.unanswered = {"GET"};
  receive(wire_of("GET b") + wire_of(big));
  EXPECT_THAT(asked(), ElementsAre("1: GET b"));
  server_.say(1, "+b\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("2: " + big));
}

TEST_F(SessionConnectionsTest, ARefusedOversizedRequestIsDroppedAndNothingElse) {
  receive(wire_of("SUBSCRIBE " + std::string(3000, 'c')) + wire_of("GET b"));
  EXPECT_THAT(
      got(), AllOf(StartsWith("-ERR heatsink: this command is larger than"), EndsWith("|+GET b|")));
  EXPECT_THAT(asked(), ElementsAre("1: GET b"));
}

TEST_F(SessionConnectionsTest, AMonitorStaysOneWhenAnOversizedRequestIsRefused) {
  send({"MONITOR"});
  EXPECT_EQ(got(), "+MONITOR|");
  receive(wire_of("SET a " + std::string(3000, 'v')));
  EXPECT_THAT(got(), StartsWith("-ERR heatsink: this command is larger than"));
  send({"SET a 1"});
  EXPECT_THAT(got(), StartsWith("-ERR heatsink: a connection in MONITOR or replication mode"));
  EXPECT_THAT(asked(), ElementsAre("2: HELLO 2 SETNAME ", "2: MONITOR"));
}

TEST_F(SessionConnectionsTest, ABrokenOversizedRequestEndsItsClient) {
  receive("*4\r\n$3\r\nSET\r\n$1\r\na\r\n$3000\r\n" + std::string(3000, 'v') + "\r\nnonsense\r\n");
  EXPECT_TRUE(client().is_closed);
  EXPECT_EQ(count(copies::Count::kProtocolErrors), 1u);
}

}  // namespace
}  // namespace heatsink::simulation
