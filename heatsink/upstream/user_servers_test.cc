// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/user_servers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/upstream/testing/idle_host.h"

namespace heatsink::proxy {
namespace {

class UserServersTest : public testing::Test {
 protected:
  static net::RedisUrl url() {
    return net::parse_upstream_url("redis+cluster://127.0.0.1:1").value();
  }
  bool is_empty() const { return users_.memory_bytes() == 0; }
  void end_turn(Nanos later) {
    users_.check_timeouts(loop_.now() + later);
    users_.end_turn();
  }

  net::EventLoop loop_;
  ServersState shared_{policy::ProxyOptions(), url(), 1};
  copies::Counters counters_;
  IdleHost host_;
  UserServers users_{shared_, loop_, counters_, host_, host_, 1};
};

TEST_F(UserServersTest, OneLoginHasOneSetOfConnections) {
  const auto alice = users_.of({"alice", "wonder"});
  EXPECT_EQ(users_.of({"alice", "wonder"}), alice);
  EXPECT_EQ(alice->credentials.user, "alice");
  EXPECT_NE(users_.of({"alice", "other"})->servers, alice->servers);
  EXPECT_NE(users_.of({"bob", "wonder"})->servers, alice->servers);
  EXPECT_NE(users_.of({"alicew", "onder"})->servers, alice->servers);
}

TEST_F(UserServersTest, AUserWithoutClientsIsKeptForAWhile) {
  auto alice = users_.of({"alice", "wonder"});
  end_turn(2 * UserServers::kKeptFor);
  EXPECT_FALSE(is_empty()) << "it has a client";
  alice.reset();
  end_turn(UserServers::kKeptFor);
  EXPECT_FALSE(is_empty()) << "the client may come again";
  end_turn(4 * UserServers::kKeptFor);
  EXPECT_TRUE(is_empty());
}

TEST_F(UserServersTest, AUserThatComesBackStays) {
  static_cast<void>(users_.of({"alice", "wonder"}));
  users_.check_timeouts(loop_.now() + 2 * UserServers::kKeptFor);
  const auto alice = users_.of({"alice", "wonder"});
  users_.end_turn();
  EXPECT_FALSE(is_empty());
}

TEST_F(UserServersTest, TheUsersWithClientsHaveALimit) {
  std::vector<std::shared_ptr<const ClientUser>> kept;
  for (std::size_t i = 0; i < UserServers::kUsersMax; ++i) {
    EXPECT_TRUE(users_.has_room_for({std::to_string(i), "secret"}));
    kept.push_back(users_.of({std::to_string(i), "secret"}));
  }
  EXPECT_FALSE(users_.has_room_for({"more", "secret"}));
  EXPECT_TRUE(users_.has_room_for({"0", "secret"})) << "it is there";
  EXPECT_TRUE(users_.has_room_for({"default", "secret"})) << "the proxy's own user needs none";
  kept.pop_back();
  EXPECT_TRUE(users_.has_room_for({"more", "secret"}));
  kept.push_back(users_.of({"more", "secret"}));
  const std::uint64_t before = users_.memory_bytes();
  end_turn(Nanos(0));
  EXPECT_LT(users_.memory_bytes(), before) << "the one without a client makes room at once";
}

TEST_F(UserServersTest, ThePasswordsOfOneUserHaveALimit) {
  std::vector<std::shared_ptr<const ClientUser>> kept;
  for (std::size_t i = 0; i < UserServers::kPasswordsMax; ++i)
    kept.push_back(users_.of({"any", std::to_string(i)}));
  EXPECT_FALSE(users_.has_room_for({"any", "more"}));
  EXPECT_TRUE(users_.has_room_for({"any", "0"}));
  EXPECT_TRUE(users_.has_room_for({"alice", "more"}));
}

}  // namespace
}  // namespace heatsink::proxy
