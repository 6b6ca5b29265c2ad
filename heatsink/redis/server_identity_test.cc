// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/redis/tracker_part_for_test.h"

namespace heatsink::redis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string hello_with(const std::string& name, const std::string& value) {
  return "%2\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$" + std::to_string(name.size()) + "\r\n" + name +
         "\r\n$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

struct Identified : TrackerPartForTest {
  std::string handshake(Question question, const std::string& wire) {
    const Status status = server.on_handshake(question, value_of(wire));
    return status.ok() ? "" : status.error().message;
  }
  ServerIdentity server{log};
};

TEST(ServerIdentity, TellsFactsAsTheyBecomeKnown) {
  Identified it;
  EXPECT_EQ(it.handshake(Question::kPing, "-NOAUTH Authentication required.\r\n"), "");
  EXPECT_EQ(it.handshake(Question::kHello, hello_with("mode", "cluster")), "");
  EXPECT_EQ(it.handshake(Question::kCommand, "-NOPERM no\r\n"), "");
  EXPECT_EQ(it.handshake(Question::kTracking, "+OK\r\n"), "");
  EXPECT_THAT(it.log.take(),
              ElementsAre("facts  closed no commands", "facts 7.0.15 closed no commands"));
  EXPECT_TRUE(it.server.is_in_cluster());
  EXPECT_TRUE(it.server.facts().cluster);
  it.server.begin();
  EXPECT_FALSE(it.server.is_in_cluster());
  EXPECT_EQ(it.server.facts().version, "");
}

TEST(ServerIdentity, RefusesReplicasSentinelsAndServersWithoutTracking) {
  Identified it;
  EXPECT_THAT(it.handshake(Question::kHello, hello_with("role", "replica")),
              HasSubstr("is a replica"));
  EXPECT_TRUE(it.server.is_replica());
  EXPECT_THAT(it.handshake(Question::kHello, hello_with("mode", "sentinel")),
              HasSubstr("Sentinel"));
  EXPECT_THAT(it.handshake(Question::kHello, "-ERR unknown command 'HELLO'\r\n"),
              HasSubstr("RESP3"));
  EXPECT_THAT(it.handshake(Question::kTracking, "-NOPERM no\r\n"), HasSubstr("CLIENT TRACKING"));
  EXPECT_FALSE(it.server.on_role(value_of("-LOADING x\r\n")).ok());
}

TEST(ServerIdentity, SeesThatSlotsHaveMoved) {
  Identified it;
  const auto slots = [&](const std::string& ranges) {
    const std::string line = "a1 127.0.0.1:7000@17000 myself,master - 0 0 1 connected " + ranges;
    return it.server.on_slots(value_of("$" + std::to_string(line.size()) + "\r\n" + line + "\r\n"));
  };
  EXPECT_FALSE(it.server.knows_slots());
  EXPECT_FALSE(*slots("0-5"));
  EXPECT_TRUE(it.server.knows_slots());
  EXPECT_FALSE(*slots("0-5"));
  EXPECT_TRUE(*slots("0-4"));
  EXPECT_FALSE(it.server.on_slots(value_of("-NOPERM no\r\n")).ok());
}

}  // namespace
}  // namespace heatsink::redis
