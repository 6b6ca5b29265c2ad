// SPDX-License-Identifier: Apache-2.0
// A whole session in front of a cluster whose client has an ACL user of its own: which connection
// carries a command, and with which login.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// One node has all slots. Connection 1 is the proxy's shared one.
class SessionUsersTest : public SessionTest {
 protected:
  SessionUsersTest() : SessionTest(with_errors_when_down(session_options())) {
    open_shared_connection();
  }

  void find_cluster() { publish_all_slots(kSessionPort, 1); }
  // On connection 2; its first command opens connection 3.
  void log_in() {
    send({"AUTH alice wonder"});
    EXPECT_EQ(got(), "+AUTH alice wonder|");
    EXPECT_THAT(asked(), ElementsAre("2: AUTH alice wonder"));
  }
};

TEST_F(SessionUsersTest, AUserHasConnectionsOfItsOwn) {
  find_cluster();
  log_in();
  send({"GET a", "SET b 1"});
  EXPECT_EQ(got(), "+GET a|+SET b 1|");
  EXPECT_THAT(asked(), ElementsAre("3: HELLO 2 SETNAME heatsink", "3: GET a", "3: SET b 1"))
      << "the first word on it was AUTH";
  send({"EVAL x 0"});
  EXPECT_THAT(asked(), ElementsAre("4: HELLO 2 SETNAME heatsink", "4: EVAL x 0"));
  send({"GET c"});
  EXPECT_THAT(asked(), ElementsAre("3: GET c"));
  send({"EVAL y 0"});
  EXPECT_THAT(asked(), ElementsAre("4: EVAL y 0")) << "from the user's pool";
}

TEST_F(SessionUsersTest, TheConnectionThatHasCheckedThePasswordIsClosed) {
  find_cluster();
  log_in();
  send({"RESET", "EVAL x 0"});
  EXPECT_THAT(asked(), ElementsAre("3: EVAL x 0")) << "not 2, which is alice's";
}

TEST_F(SessionUsersTest, ARefusedPasswordChangesNothing) {
  find_cluster();
  log_in();
  server_.replies["AUTH bob wrong"] = "-WRONGPASS\r\n";
  send({"GET a", "AUTH bob wrong", "GET b"});
  EXPECT_EQ(got(), "+GET a|-WRONGPASS|+GET b|");
  EXPECT_THAT(asked(), ElementsAre("3: HELLO 2 SETNAME heatsink", "3: GET a", "3: GET b"))
      << "the first word on connection 4 was AUTH";
}

TEST_F(SessionUsersTest, ALostConnectionDuringTheLoginChangesNothing) {
  find_cluster();
  server_.unanswered = {"AUTH"};
  send({"AUTH alice wonder"});
  EXPECT_THAT(asked(), ElementsAre("2: AUTH alice wonder"));
  in_turn([this] { server_.hang_up(2); });
  EXPECT_THAT(got(), StartsWith("-IOERR heatsink: "));
  send({"GET a"});
  EXPECT_THAT(asked(), ElementsAre("3: GET a")) << "the first word on it was no AUTH";
}

TEST_F(SessionUsersTest, ASubscriberKeepsItsUser) {
  find_cluster();
  server_.replies["SUBSCRIBE"] = "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n";
  send({"HELLO 3", "SUBSCRIBE c", "AUTH alice wonder"});
  EXPECT_THAT(got(), HasSubstr("-ERR heatsink: in front of a cluster a client must log in"));
}

TEST_F(SessionUsersTest, AnInvalidHelloSpoilsItsConnection) {
  find_cluster();
  send({"HELLO 3 AUTH alice wonder NOSUCH"});
  EXPECT_THAT(asked(), ElementsAre("2: HELLO 3 AUTH alice wonder NOSUCH"));
  send({"EVAL x 0"});
  EXPECT_THAT(asked(), ElementsAre("3: EVAL x 0")) << "Redis 7.0 has logged 2 in as alice";
}

TEST_F(SessionUsersTest, AClientOfOneServerThatIsFoundToBeANodeConnectsAgain) {
  send({"AUTH alice wonder", "GET a"});
  EXPECT_EQ(got(), "+AUTH alice wonder|+GET a|");
  asked();
  find_cluster();
  send({"GET b"});
  EXPECT_THAT(got(), AllOf(StartsWith("-ERR heatsink: "), HasSubstr("connect again")));
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_TRUE(client().is_closed);
}

}  // namespace
}  // namespace heatsink::simulation
