// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_moves.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

// Another worker; keeps what it gets.
class MovedTo final : public BalancedWorker {
 public:
  void take_client(std::uint64_t id, net::Stream /*stream*/, const std::string& /*peer*/) override {
    opened.push_back(id);
  }
  void take_moved(MovedClient client) override { moved.push_back(std::move(client)); }
  void give_clients(std::size_t /*count*/, BalancedWorker& /*to*/) override {}

  std::vector<std::uint64_t> opened;
  std::vector<MovedClient> moved;
};

class ClientMovesTest : public ServedClientsTest {
 protected:
  void begin_moves() {
    begin();
    moves.emplace(0, *clients, loop, counters);
  }

  MovedTo other;
  std::optional<ClientMoves> moves;
};

TEST_F(ClientMovesTest, ClientsAtRestMoveAtOnce) {
  begin_moves();
  connect();
  connect();
  moves->begin(BalancedWorker::kAllClients, other);
  EXPECT_EQ(other.moved.size(), 2U);
  EXPECT_TRUE(clients->all().empty());
  EXPECT_EQ(count(copies::Count::kClientsMoved), 2U);
  EXPECT_FALSE(wires[0].is_closed);
}

TEST_F(ClientMovesTest, OnlyClientsThatHaveSentSomethingCount) {
  begin_moves();
  connect();
  moves->begin(1, other);
  EXPECT_TRUE(other.moved.empty());
}

TEST_F(ClientMovesTest, ABusyClientMovesOnceItIsReady) {
  begin_moves();
  ask_server(connect());
  moves->begin(BalancedWorker::kAllClients, other);
  moves->end_turn();
  EXPECT_TRUE(other.moved.empty());
  lose_server();
  moves->end_turn();
  EXPECT_EQ(other.moved.size(), 1U);
}

TEST_F(ClientMovesTest, AClientThatIsNotReadySoonStays) {
  begin_moves();
  const std::uint64_t id = connect();
  ask_server(id);
  moves->begin(BalancedWorker::kAllClients, other);
  pass(ClientMoves::kMoveTime);
  moves->end_turn();
  lose_server();
  moves->end_turn();
  EXPECT_TRUE(other.moved.empty());
  EXPECT_NE(clients->session(id), nullptr);
}

TEST_F(ClientMovesTest, AMoveStops) {
  begin_moves();
  ask_server(connect());
  moves->begin(BalancedWorker::kAllClients, other);
  moves->stop();
  lose_server();
  moves->end_turn();
  EXPECT_TRUE(other.moved.empty());
}

// Its old worker has perhaps not noticed that the server, with its scripts, was lost.
TEST_F(ClientMovesTest, AClientThatHasRunScriptsDoesNotOutliveTheServer) {
  begin_moves();
  const std::uint64_t before = connect(), after = connect();
  moves->begin(BalancedWorker::kAllClients, other);
  ASSERT_EQ(other.moved.size(), 2U);
  moves->server_left();
  for (MovedClient& client : other.moved) {
    const bool is_old = client.session.id == before;
    client.session.state.ran_script_at_ = loop.now() + (is_old ? -Millis(1) : Millis(1));
    moves->take_in(std::move(client));
  }
  end_turn();
  EXPECT_EQ(clients->session(before), nullptr);
  EXPECT_NE(clients->session(after), nullptr);
}

TEST_F(ClientMovesTest, NewClientsGoToTheBalancersChoice) {
  begin_moves();
  MovedTo here;
  EXPECT_EQ(&moves->home(here), &here);
  ClientBalancer balancer({&other});
  moves->balance_by(balancer);
  EXPECT_EQ(&moves->home(here), &other);
  moves->stop_for_good();
  EXPECT_EQ(&moves->home(here), &here);
}

}  // namespace
}  // namespace heatsink::proxy
