// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/server_connections.h"

#include <gtest/gtest.h>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

class ServerConnectionsTest : public ServedClientsTest {
 protected:
  void begin_servers() {
    begin();
    servers.emplace(*shared, loop, counters, static_cast<Upstreams::Host&>(*this),
                    static_cast<Upstream::Host&>(*this), kSeed);
  }

  std::optional<ServerConnections> servers;
};

TEST_F(ServerConnectionsTest, AConnectionIsFlushedOncePerTurn) {
  begin_servers();
  PlayedOwner owner;
  const std::unique_ptr<Upstream> made = connection(&owner);
  ASSERT_TRUE(made->take_over(stream(), 0, false).ok());
  made->send_own({"PING"});
  made->send_own({"PING"});
  EXPECT_FALSE(servers->has_due());
  servers->flush_later(*made);
  servers->flush_later(*made);
  EXPECT_TRUE(servers->has_due());
  servers->flush();
  EXPECT_FALSE(servers->has_due());
  EXPECT_EQ(count(copies::Count::kUpstreamWrites), 1U);
  EXPECT_EQ(count(copies::Count::kServerCommands), 2U);
  EXPECT_EQ(wires[0].output, "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
  servers->flush_later(*made);
  EXPECT_TRUE(servers->has_due()) << "it may be due again";
}

TEST_F(ServerConnectionsTest, AConnectionBelongsToWhatOpenedIt) {
  begin_servers();
  PlayedOwner owner;
  const std::unique_ptr<Upstream> made = connection(&owner);
  EXPECT_EQ(&servers->opener(*made), &servers->own());
  const auto user = servers->users().of({"ann", "secret"});
  ASSERT_NE(user, nullptr);
  made->log_in_as(*user);
  EXPECT_EQ(&servers->opener(*made), user->servers);
}

TEST_F(ServerConnectionsTest, TheFirstConnectionIsOpenedAtTheStart) {
  begin_servers();
  EXPECT_TRUE(servers->owes_nothing());
  const std::uint64_t before = servers->memory_bytes();
  servers->begin();
  EXPECT_GT(servers->memory_bytes(), before);
  servers->shrink();
  EXPECT_TRUE(servers->owes_nothing());
}

}  // namespace
}  // namespace heatsink::proxy
