// SPDX-License-Identifier: Apache-2.0
// A whole session in front of a cluster whose master is replaced while commands are in flight to
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint16_t kNewPort = 7003;
constexpr std::string_view kReplaced =
    "upstream 127.0.0.1:7002 is not reachable: another node has replaced it, and it has not "
    "answered since";
constexpr std::string_view kMayExecute =
    " (the server may have executed the command, or may yet execute it)|";

// The node at kSessionPort has all slots, until replace(). Its connection 1 is the shared one.
class SessionReplacedTest : public SessionTest {
 protected:
  SessionReplacedTest() : SessionTest(with_errors_when_down(session_options())) {
    in_turn([this] { publish(kSessionPort, 1); });
    open_shared_connection();
  }

  void publish(std::uint16_t port, std::optional<std::uint64_t> config_epoch) {
    publish_all_slots(port, config_epoch);
    host_.upstreams->map_changed();
  }
  // The other node has all slots, and the proxy knows it.
  void replace(std::optional<std::uint64_t> config_epoch = 2) {
    node_.post([this, config_epoch] { publish(kNewPort, config_epoch); });
    pass(Millis(1));
  }
  std::vector<std::string> asked_of_new() { return std::exchange(new_.asked, {}); }

  EchoServer new_{network_, kNewPort};
};

TEST_F(SessionReplacedTest, WhatIsInFlightToAStoppedMasterGetsItsErrorIn500Ms) {
  server_.unanswered = {"GET", "SET"};
  send({"GET a", "SET a 1"});
  replace();
  EXPECT_EQ(got(), "");
  pass(Millis(490));
  EXPECT_EQ(got(), "-LOADING heatsink: " + std::string(kReplaced) +
                       "|-IOERR heatsink: " + std::string(kReplaced) + std::string(kMayExecute));
  asked();
  send({"GET a"});
  EXPECT_EQ(got(), "+GET a|");
  EXPECT_THAT(asked_of_new(), ElementsAre("1: GET a"));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionReplacedTest, AMasterThatAnswersInTimeCausesNoError) {
  server_.unanswered = {"GET", "SET"};
  send({"GET a", "SET a 1"});
  replace();
  pass(Millis(100));
  server_.say(1, "+a\r\n-MOVED 15495 127.0.0.1:7003\r\n");
  pass(Millis(500));
  EXPECT_EQ(got(), "+a|+SET a 1|");
  EXPECT_THAT(asked_of_new(), ElementsAre("1: SET a 1"));
}

TEST_F(SessionReplacedTest, ACommandThatWaitsOnAPrivateConnectionGetsItsError) {
  server_.unanswered = {"BLPOP"};
  send({"BLPOP a 0"});
  EXPECT_THAT(asked(), ElementsAre("2: HELLO", "2: BLPOP a 0"));
  replace();
  pass(Millis(490));
  EXPECT_THAT(got(), AllOf(StartsWith("-IOERR heatsink: " + std::string(kReplaced)),
                           EndsWith(kMayExecute)));
  send({"BLPOP b 0"});
  EXPECT_THAT(asked_of_new(), ElementsAre("1: HELLO", "1: BLPOP b 0"));
}

TEST_F(SessionReplacedTest, AClientWithStateIsDisconnected) {
  send({"WATCH a"});
  EXPECT_EQ(got(), "+WATCH a|");
  server_.unanswered = {"GET", "MULTI", "EXEC"};
  replace();
  pass(Millis(490));
  EXPECT_FALSE(client().is_closed);  // nothing is in flight
  send({"GET a"});                   // the connection with its state is the stopped one's
  pass(Millis(300));
  check_timeouts();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(client().is_closed);
}

TEST_F(SessionReplacedTest, WithoutAHigherEpochItKeepsItsTime) {
  server_.unanswered = {"GET"};
  send({"GET a"});
  replace(std::nullopt);
  pass(Millis(2000));
  check_timeouts();
  EXPECT_EQ(got(), "");
  server_.say(1, "+a\r\n");
  pass();
  EXPECT_EQ(got(), "+a|");
}

TEST_F(SessionReplacedTest, ASlotThatIsGivenAwayEndsNothing) {
  server_.unanswered = {"GET"};
  send({"GET b"});  // of slot 3300
  in_turn([this] {
    topology::AnnouncedShard first, second;
    first.master = {"127.0.0.1", kSessionPort};
    first.slots = {{0, 9999}};
    first.config_epoch = 1;
    second.master = {"127.0.0.1", kNewPort};
    second.slots = {{10000, resp::kSlots - 1}};
    second.config_epoch = 2;
    host_.shared.cluster.publish({first, second}, second.master, 2);
    host_.upstreams->map_changed();
  });
  pass(Millis(1000));
  check_timeouts();
  EXPECT_EQ(got(), "");
  server_.say(1, "+b\r\n");
  pass();
  EXPECT_EQ(got(), "+b|");
}

}  // namespace
}  // namespace heatsink::simulation
