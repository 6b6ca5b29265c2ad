// SPDX-License-Identifier: Apache-2.0
// A whole session while its server is away: what waits, for how long, and what a client gets for a
// command that no server answers (upstream.on-down, upstream.connect-wait).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint16_t kOtherNodePort = 7003;
constexpr std::string_view kNotExecuted =
    "-LOADING heatsink: upstream 127.0.0.1:7002 is not reachable: ";

// The options are the defaults: close, after a wait of 2 s.
class SessionOutageTest : public SessionTest {
 protected:
  explicit SessionOutageTest(const policy::ProxyOptions& options = session_options())
      : SessionTest(options) {
    open_shared_connection();
  }
  void stop_server() {
    server_.close_port();
    for (std::size_t i = 1; i <= server_.connections(); ++i) server_.hang_up(i);
    pass();
  }
  // The bytes come, and nothing else happens in this time.
  void send_now(std::string_view command) {
    const std::string bytes = wire_of(command);
    node_.post([this, bytes] { host_.session->received(bytes, host_.loop.clock()); });
    pass(Millis(5));
  }
};

class AnswersWhenDown : public SessionOutageTest {
 public:
  AnswersWhenDown() : SessionOutageTest(options()) {}
  static policy::ProxyOptions options() {
    policy::ProxyOptions options = session_options();
    options.on_down = policy::OnDown::kError;
    return options;
  }
};

class NeverWaits : public SessionOutageTest {
 protected:
  NeverWaits() : SessionOutageTest(options()) {}
  static policy::ProxyOptions options() {
    policy::ProxyOptions options = session_options();
    options.connect_wait = Nanos(0);
    return options;
  }
};

// ---- what was in flight

TEST_F(SessionOutageTest, ALostReplyEndsTheClientsConnectionAfterEarlierReplies) {
  server_.unanswered = {"SET"};
  send({"GET a", "SET b 1"});
  server_.hang_up(1);
  pass();
  EXPECT_EQ(got(), "+GET a|");
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionOutageTest, ALostWaitEndsTheClientsConnection) {
  server_.unanswered = {"BLPOP"};
  send({"BLPOP k 0"});
  EXPECT_THAT(asked(), ElementsAre("2: HELLO", "2: BLPOP k 0"));
  server_.hang_up(2);
  pass();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

TEST_F(SessionOutageTest, ALostSubscriptionEndsTheClientsConnection) {
  server_.unanswered = {"PSUBSCRIBE"};
  send({"PSUBSCRIBE a*"});
  server_.hang_up(2);
  pass();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

// ---- what comes while the server is away

class WaitsForServer : public SessionOutageTest, public testing::WithParamInterface<const char*> {};

TEST_P(WaitsForServer, AndIsAnsweredOnceItIsBack) {
  stop_server();
  send_now(GetParam());
  pass(Millis(900));
  EXPECT_EQ(got(), "");
  EXPECT_FALSE(client().is_closed);
  server_.open_port();
  pass(Millis(20));
  EXPECT_THAT(got(), AllOf(testing::Not(IsEmpty()), testing::Not(StartsWith("-"))));
  EXPECT_FALSE(client().is_closed);
  EXPECT_EQ(count(copies::Count::kServerAwaited), 1u);
}

TEST_P(WaitsForServer, AndItsClientIsClosedIfItStaysAway) {
  stop_server();
  send_now(GetParam());
  pass(Millis(1900));
  EXPECT_FALSE(client().is_closed);
  pass(Millis(200));
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
  EXPECT_EQ(count(copies::Count::kUpstreamErrors), 1u);
  server_.open_port();
  pass();
  EXPECT_THAT(asked(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Commands, WaitsForServer,
                         testing::Values("GET a", "SET a 1", "HELLO", "HELLO 3", "SELECT 0",
                                         "AUTH alice wonder", "EVAL x 0", "WATCH a", "MULTI",
                                         "BLPOP k 1", "SUBSCRIBE c", "MONITOR"));

TEST_F(SessionOutageTest, TheWaitBeginsWithTheFirstRequestThatFindsNoServer) {
  stop_server();
  pass(seconds(30));
  send_now("GET a");
  pass(Millis(1900));
  EXPECT_FALSE(client().is_closed);
  server_.open_port();
  pass(Millis(20));
  EXPECT_EQ(got(), "+GET a|");
}

TEST_F(SessionOutageTest, EachOutageHasItsOwnWait) {
  for (int i = 0; i < 3; ++i) {
    stop_server();
    send_now("GET a");
    pass(Millis(1500));
    server_.open_port();
    pass(Millis(20));
    EXPECT_EQ(got(), "+GET a|");
  }
}

TEST_F(SessionOutageTest, RequestsThatWaitedKeepTheirOrder) {
  stop_server();
  for (const char* command : {"SET a 1", "EVAL x 0", "GET b"}) send_now(command);
  server_.open_port();
  pass();
  EXPECT_EQ(got(), "+SET a 1|+EVAL x 0|+GET b|");
}

TEST_F(SessionOutageTest, AttemptsArePacedWhileARequestWaits) {
  stop_server();
  const std::uint64_t before = count(copies::Count::kUpstreamConnects);
  send_now("GET a");
  pass(seconds(1));
  EXPECT_GT(count(copies::Count::kUpstreamConnects), before + 50);
  EXPECT_LT(count(copies::Count::kUpstreamConnects), before + 110);
}

// Nothing else ends its wait: the client may have given up, and sends the command again elsewhere.
TEST_F(SessionOutageTest, ARequestOfAClientThatHasLeftIsNotSent) {
  stop_server();
  send_now("SET a 1");
  in_turn([this] { host_.session->input_ended(false); });
  EXPECT_TRUE(client().is_closed);
  server_.open_port();
  pass();
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionOutageTest, ARefusedLoginIsAnErrorThatSaysSo) {
  stop_server();
  server_.replies["HELLO"] = "-WRONGPASS no such user\r\n";
  server_.open_port();
  send({"GET a"});
  pass(seconds(3));
  EXPECT_THAT(got(),
              StartsWith(std::string(kNotExecuted) +
                         "the server refused the login (WRONGPASS): the user or the password is"));
  EXPECT_FALSE(client().is_closed);
}

TEST_F(NeverWaits, ACommandEndsTheClientsConnectionAtOnce) {
  stop_server();
  send_now("GET a");
  pass(Millis(5));
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

TEST_F(NeverWaits, SoDoesACommandOnAConnectionOfItsOwn) {
  stop_server();
  send_now("BLPOP k 0");
  pass(Millis(5));
  EXPECT_TRUE(client().is_closed);
}

// ---- upstream.on-down: error

TEST_F(AnswersWhenDown, EachLostCommandGetsAnErrorThatSaysWhetherItMayHaveRun) {
  server_.unanswered = {"GET", "SET", "BLPOP"};
  send({"GET a", "SET b 1"});
  server_.hang_up(1);
  pass();
  EXPECT_THAT(
      got(),
      AllOf(StartsWith(kNotExecuted),
            testing::HasSubstr("|-IOERR heatsink: upstream 127.0.0.1:7002 is not reachable: "),
            EndsWith(" (the server may have executed the command, or may yet execute it)|")));
  send({"BLPOP k 0"});
  server_.hang_up(3);
  pass();
  EXPECT_THAT(got(), StartsWith("-IOERR heatsink: upstream 127.0.0.1:7002 is not reachable: "));
  EXPECT_FALSE(client().is_closed);
  server_.unanswered.clear();
  send({"GET c"});
  EXPECT_EQ(got(), "+GET c|");
}

TEST_F(AnswersWhenDown, RequestsFailAtOnceAfterTheWait) {
  stop_server();
  send_now("GET a");
  pass(seconds(2));
  EXPECT_THAT(got(), StartsWith(kNotExecuted));
  for (const char* command : {"GET a", "HELLO 3", "WATCH a"}) {
    pass(seconds(1));
    send_now(command);
    pass(Millis(5));
    EXPECT_THAT(got(), StartsWith(kNotExecuted)) << command;
  }
  EXPECT_FALSE(client().is_closed);
  server_.open_port();
  pass();
  send({"GET b"});
  EXPECT_EQ(got(), "+GET b|");
  stop_server();
  send_now("GET c");
  pass(seconds(1));
  EXPECT_EQ(got(), "") << "the next outage";
}

// ---- in front of a cluster

// "b" is at the first node, "a" at the other one.
class ClusterOutageTest : public SessionOutageTest {
 protected:
  explicit ClusterOutageTest(const policy::ProxyOptions& options = session_options())
      : SessionOutageTest(options) {
    const net::HostPort node{"127.0.0.1", kSessionPort};
    topology::AnnouncedShard first, second;
    constexpr std::uint16_t kHalf = 8191;
    first.master = node;
    first.slots = {{0, kHalf}};
    first.config_epoch = 1;
    second.master = {"127.0.0.1", kOtherNodePort};
    second.slots = {{kHalf + 1, resp::kSlots - 1}};
    host_.shared.cluster.publish({first, second}, node, 1);
  }
  void stop_other() {
    other_.close_port();
    for (std::size_t i = 1; i <= other_.connections(); ++i) other_.hang_up(i);
    pass();
  }

  EchoServer other_{network_, kOtherNodePort};
};

TEST_F(ClusterOutageTest, ALostPartEndsTheClientsConnection) {
  other_.unanswered = {"MGET"};
  server_.replies["MGET"] = "*1\r\n$1\r\n1\r\n";
  send({"MGET a b"});
  EXPECT_THAT(other_.asked, ElementsAre("1: MGET a"));
  stop_other();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

class ClusterAnswersWhenDown : public ClusterOutageTest {
 protected:
  ClusterAnswersWhenDown() : ClusterOutageTest(AnswersWhenDown::options()) {}
};

TEST_F(ClusterAnswersWhenDown, TheErrorOfALostPartSpeaksOfParts) {
  server_.unanswered = other_.unanswered = {"DEL"};
  send({"DEL a b"});
  stop_other();
  stop_server();
  const std::string reply = got();
  EXPECT_THAT(reply, StartsWith("-IOERR heatsink: upstream 127.0.0.1:"));
  EXPECT_THAT(reply, EndsWith(" (the servers may have executed parts of the command, or may yet "
                              "execute it)|"));
}

TEST_F(ClusterOutageTest, ALostWaitAtANodeEndsTheClientsConnection) {
  other_.unanswered = {"BLPOP"};
  send({"BLPOP a 0"});
  stop_other();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

// Nothing was sent to the other one.
TEST_F(ClusterOutageTest, ACommandForSeveralNodesWaitsForAllOfThem) {
  send({"GET a"});
  EXPECT_EQ(got(), "+GET a|");
  stop_other();
  asked();
  server_.replies["MGET"] = other_.replies["MGET"] = "*1\r\n$1\r\n1\r\n";
  send_now("MGET a b");
  pass(Millis(500));
  EXPECT_THAT(asked(), IsEmpty());
  other_.open_port();
  pass(Millis(20));
  EXPECT_EQ(got(), "*2|$1|1|$1|1|");
}

TEST_F(ClusterOutageTest, ARequestWaitsForItsNodeOnly) {
  send({"GET a"});
  EXPECT_EQ(got(), "+GET a|");
  stop_other();
  send_now("GET b");
  EXPECT_EQ(got(), "+GET b|");
  send_now("GET a");
  pass(Millis(500));
  EXPECT_EQ(got(), "");
  other_.open_port();
  pass(Millis(20));
  EXPECT_EQ(got(), "+GET a|");
}

TEST_F(ClusterOutageTest, ARequestThatWaitsFollowsItsSlot) {
  send({"GET a"});
  EXPECT_EQ(got(), "+GET a|");
  stop_other();
  send_now("GET a");
  pass(Millis(500));
  EXPECT_EQ(got(), "");
  publish_all_slots(kSessionPort, 2);
  check_timeouts();
  EXPECT_EQ(got(), "+GET a|");
}

}  // namespace
}  // namespace heatsink::simulation
