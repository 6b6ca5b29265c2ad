// SPDX-License-Identifier: Apache-2.0
// The model server alone: what no comparison with a real server shows.
#include "tests/simulation/model_server.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "tests/simulation/model_sides.h"

namespace heatsink::simulation {
namespace {

constexpr std::uint16_t kPrimaryPort = 7001, kReplicaPort = 7002;

struct Machine {
  Machine(Network& its_network, std::string name, std::uint16_t port)
      : network(its_network), node(network, std::move(name)), loop(node.poller()), model(loop, {}) {
    node.run(loop);
    listen(port);
  }
  ~Machine() { node.leave(); }

  void listen(std::uint16_t port) {
    network.listen(port, node, [this](net::Stream stream, const std::string&) {
      model.accept(std::move(stream));
    });
  }

  Network& network;
  Node node;
  net::EventLoop loop;
  ModelServer model;
};

class ModelServerTest : public testing::Test {
 protected:
  ~ModelServerTest() override { node_.leave(); }

  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }
  std::unique_ptr<ModelPeer> connect(std::uint16_t port) {
    auto peer = std::make_unique<ModelPeer>(loop_, address_of(port));
    pass(Millis(20));
    return peer;
  }
  std::string ask(ModelPeer& peer, const ModelRequest& request) {
    peer.heard.clear();
    peer.send(wire({request}, {}));
    pass(Millis(20));
    return peer.heard;
  }
  void replicate() {
    replica_.model.replicate_from(address_of(kPrimaryPort));
    pass(Millis(100));
    ASSERT_TRUE(replica_.model.is_synced());
  }

  Scheduler scheduler_{7};
  Network network_{scheduler_, NetworkOptions{.slow_segment = 0}};
  Node node_{network_, "clients"};
  net::EventLoop loop_{node_.poller()};
  Machine primary_{network_, "primary", kPrimaryPort}, replica_{network_, "replica", kReplicaPort};

  void SetUp() override { node_.run(loop_); }
};

TEST_F(ModelServerTest, AReplicaTakesAllKeysAndFollows) {
  const auto client = connect(kPrimaryPort), reader = connect(kReplicaPort);
  ask(*client, {"RPUSH", "l", "1", "2"});
  ask(*client, {"SET", "k", "1", "PX", "100000"});
  ask(*reader, {"SET", "own", "is lost"});
  replicate();
  EXPECT_EQ(ask(*reader, {"LRANGE", "l", "0", "-1"}), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
  EXPECT_EQ(ask(*reader, {"EXISTS", "own"}), ":0\r\n");
  EXPECT_TRUE(ask(*reader, {"PTTL", "k"}).starts_with(":99"));
  ask(*client, {"SELECT", "1"});
  ask(*client, {"SET", "m", "2"});
  ask(*client, {"SWAPDB", "0", "1"});
  EXPECT_EQ(ask(*reader, {"GET", "m"}), "$1\r\n2\r\n");
  EXPECT_EQ(ask(*reader, {"GET", "k"}), "$-1\r\n");
  ask(*client, {"FLUSHALL"});
  EXPECT_EQ(ask(*reader, {"GET", "m"}), "$-1\r\n");
}

// As INFO of a server counts them: by any client, in scripts and transactions.
TEST_F(ModelServerTest, InfoCountsEachCommand) {
  const auto client = connect(kPrimaryPort);
  EXPECT_EQ(ask(*client, {"INFO", "commandstats"}).find("swapdb"), std::string::npos);
  EXPECT_EQ(ask(*client, {"EVAL", "return redis.call('swapdb', ARGV[1], ARGV[2])", "0", "0", "9"}),
            "+OK\r\n");
  EXPECT_EQ(ask(*client, {"FCALL", "run", "0", "SWAPDB", "0", "9"}), "+OK\r\n");
  ask(*client, {"MULTI"});
  ask(*client, {"SWAPDB", "0", "9"});
  ask(*client, {"EXEC"});
  const std::string told = ask(*client, {"INFO", "commandstats"});
  EXPECT_NE(told.find("\r\ncmdstat_swapdb:calls=3,"), std::string::npos) << told;
  EXPECT_NE(told.find("\r\ncmdstat_eval:calls=1,"), std::string::npos) << told;
  EXPECT_EQ(ask(*client, {"INFO"}).find("cmdstat_"), std::string::npos);
}

TEST_F(ModelServerTest, AReplicaRefusesWritesAndTellsItsTrackers) {
  const auto client = connect(kPrimaryPort), reader = connect(kReplicaPort);
  replicate();
  EXPECT_EQ(ask(*reader, {"SET", "k", "1"}),
            "-READONLY You can't write against a read only replica.\r\n");
  EXPECT_NE(ask(*reader, {"HELLO", "3"}).find("replica"), std::string::npos);
  ask(*reader, {"CLIENT", "TRACKING", "ON"});
  ask(*reader, {"GET", "k"});
  reader->heard.clear();
  ask(*client, {"SET", "k", "1"});
  EXPECT_EQ(reader->heard, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
}

TEST_F(ModelServerTest, AReplicaKeepsWhatHasEndedUntilThePrimaryDeletesIt) {
  const auto client = connect(kPrimaryPort), reader = connect(kReplicaPort);
  replicate();
  ask(*client, {"SET", "k", "1", "PX", "50"});
  EXPECT_EQ(ask(*reader, {"GET", "k"}), "$1\r\n1\r\n");
  pass(Millis(100));
  EXPECT_EQ(ask(*reader, {"GET", "k"}), "$-1\r\n");
  EXPECT_EQ(ask(*reader, {"DBSIZE"}), ":1\r\n");
  primary_.loop.post([this] { primary_.model.expire_some(10); });
  pass(Millis(20));
  EXPECT_EQ(ask(*reader, {"DBSIZE"}), ":0\r\n");
}

TEST_F(ModelServerTest, ATransactionReachesAReplicaAtOnce) {
  const auto client = connect(kPrimaryPort), reader = connect(kReplicaPort);
  replicate();
  network_.options().split = 1;
  client->send(wire({{"MULTI"}, {"SET", "a", "1"}, {"SET", "b", "1"}, {"EXEC"}}, {}));
  for (int i = 0; i < 200; ++i) {
    pass(std::chrono::microseconds(20));
    ASSERT_EQ(replica_.model.keys(0) % 2, 0u);
  }
  pass(Millis(20));
  EXPECT_EQ(replica_.model.keys(0), 2u);
}

// The address of the primary then leads to what was its replica; the old one, which was stopped,
// comes back as a replica, and what it alone had is lost.
TEST_F(ModelServerTest, AFailoverLosesTheLastWrites) {
  auto client = connect(kPrimaryPort);
  replicate();
  ask(*client, {"SET", "k", "kept"});
  network_.options().latency_max = network_.options().latency_min = Millis(5);
  client->send(wire({{"SET", "k", "lost"}}, {}));
  pass(Millis(5) + std::chrono::microseconds(500));  // executed, and on its way to the replica
  EXPECT_FALSE(primary_.node.is_stopped());
  primary_.node.stop_for(std::chrono::seconds(1));
  replica_.model.promote();
  network_.close_port(kPrimaryPort);
  replica_.listen(kPrimaryPort);
  network_.close_port(kReplicaPort);
  primary_.listen(kReplicaPort);
  const auto after = connect(kPrimaryPort);
  EXPECT_EQ(ask(*after, {"GET", "k"}), "$4\r\nkept\r\n");
  EXPECT_EQ(ask(*after, {"SET", "m", "1"}), "+OK\r\n");
  pass(std::chrono::seconds(2));
  EXPECT_EQ(ask(*client, {"GET", "k"}), "$4\r\nlost\r\n");  // a client that never heard of it
  primary_.loop.post([this] { primary_.model.replicate_from(address_of(kPrimaryPort)); });
  pass(std::chrono::seconds(1));
  EXPECT_EQ(ask(*client, {"GET", "k"}), "$4\r\nkept\r\n");
  EXPECT_EQ(ask(*client, {"GET", "m"}), "$1\r\n1\r\n");
}

TEST_F(ModelServerTest, ALinkThatWasCutComesBack) {
  const auto reader = connect(kReplicaPort);
  replicate();
  network_.cut([](const Socket& socket) {
    return socket.node->name() == "replica" && socket.peer_name == "primary";
  });
  pass(Millis(50));
  EXPECT_FALSE(replica_.model.is_synced());
  const auto client = connect(kPrimaryPort);
  ask(*client, {"SET", "k", "1"});
  pass(Millis(300));
  EXPECT_TRUE(replica_.model.is_synced());
  EXPECT_EQ(ask(*reader, {"GET", "k"}), "$1\r\n1\r\n");
}

TEST_F(ModelServerTest, ATableThatIsFullForgetsNamesAndTells) {
  const auto client = connect(kPrimaryPort);
  ask(*client, {"HELLO", "3"});
  ask(*client, {"CLIENT", "TRACKING", "ON"});
  ask(*client, {"MGET", "a", "b", "c"});
  client->heard.clear();
  primary_.loop.post([this] { primary_.model.limit_tracked(1); });
  pass(Millis(20));
  EXPECT_EQ(split_replies(client->heard).size(), 2u);
}

// As in Redis: there in the millisecond of its end, gone in the next.
TEST_F(ModelServerTest, AKeyLivesThroughItsLastMillisecond) {
  const auto client = connect(kPrimaryPort);
  network_.options() = at_once();
  pass(Millis(1) - scheduler_.now().time_since_epoch() % Millis(1));
  client->send(wire({{"SET", "k", "1", "PX", "5"}}, {}));
  pass(Millis(6) - Nanos(1));
  client->heard.clear();
  client->send(wire({{"PTTL", "k"}, {"EXISTS", "k"}}, {}));
  pass(Nanos(0));
  EXPECT_EQ(client->heard, ":0\r\n:1\r\n");
  pass(Nanos(1));
  client->heard.clear();
  client->send(wire({{"EXISTS", "k"}}, {}));
  pass(Nanos(0));
  EXPECT_EQ(client->heard, ":0\r\n");
}

}  // namespace
}  // namespace heatsink::simulation
