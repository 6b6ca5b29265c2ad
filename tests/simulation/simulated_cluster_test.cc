// SPDX-License-Identifier: Apache-2.0
// The model cluster: elections, votes, minorities, and masters that stand still.
#include "tests/simulation/simulated_cluster.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "heatsink/base/log.h"
#include "tests/simulation/model_sides.h"
#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

class SimulatedClusterTest : public testing::Test {
 protected:
  SimulatedClusterTest() {
    recorder_.prefix = "k";
    for (std::uint32_t key = 0; key < 8; ++key) recorder_.know(key);
    pass(seconds(3));
  }

  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }
  std::string ask(ModelPort port, const std::vector<std::string_view>& request) {
    return cluster_.node(port).server().ask(request);
  }
  std::uint64_t epoch(ModelPort port) { return cluster_.node(port).view().current_epoch; }
  std::vector<ModelPort> other_masters(ModelPort than) {
    std::vector<ModelPort> out;
    for (ModelPort port = kFirst; port < kFirst + 6; ++port)
      if (port != than && cluster_.node(port).is_master()) out.push_back(port);
    return out;
  }
  // Passes until the replica has replaced the master.
  void pass_until_replaced(ModelPort replica) {
    for (int i = 0; i < 10'000 && !cluster_.node(replica).is_master(); ++i) pass(Millis(1));
    ASSERT_TRUE(cluster_.node(replica).is_master());
  }
  // Cuts this master off from all other nodes.
  void cut_off(ModelPort master) {
    network_.separate(
        [inside = ModelBus::node_name(master)](const std::string& one, const std::string& other) {
          return (one == inside) != (other == inside);
        });
  }
  static SimulatedClusterOptions options() { return {.masters = 3}; }

  static constexpr ModelPort kFirst = SimulatedCluster::kFirstPort;
  static constexpr std::string_view kMissing = "{k1}missing";

  Scheduler scheduler_{1};
  Network network_{scheduler_, {}};
  consistency::Recorder recorder_;
  const WallClock clock_;
  SimulatedCluster cluster_{network_, recorder_, clock_, options()};
  const ModelPort owner_ = cluster_.owner_of(kMissing);
  const ModelPort replica_ = cluster_.replica_of(owner_);
};

TEST_F(SimulatedClusterTest, IsSettledAtTheBeginning) {
  EXPECT_TRUE(cluster_.is_settled());
  EXPECT_NE(replica_, 0);
}

// Before the new master is there, a majority of the masters has raised its epoch.
TEST_F(SimulatedClusterTest, VotersRaiseTheirEpochFirst) {
  const std::uint64_t before = epoch(owner_);
  cut_off(owner_);
  const std::vector<ModelPort> voters = other_masters(owner_);
  pass_until_replaced(replica_);
  for (const ModelPort voter : voters) EXPECT_GT(epoch(voter), before);
  EXPECT_EQ(epoch(owner_), before);
}

TEST_F(SimulatedClusterTest, AMasterThatIsCutOffRefusesBehindItsTimeOut) {
  cut_off(owner_);
  pass(Millis(500));
  EXPECT_EQ(ask(owner_, {"EXISTS", kMissing}), ":0\r\n");
  pass(Millis(1200));
  EXPECT_EQ(ask(owner_, {"EXISTS", kMissing}), "-CLUSTERDOWN The cluster is down\r\n");
  network_.separate(nullptr);
  pass(seconds(10));
  EXPECT_FALSE(cluster_.node(owner_).is_master());
  EXPECT_TRUE(cluster_.is_settled());
}

// What lies in its buffers is executed as by a master; then it hears that it is none.
TEST_F(SimulatedClusterTest, AMasterThatStoodStillExecutesWhatLiesInItsBuffers) {
  Node clients(network_, "clients");
  net::EventLoop loop(clients.poller());
  clients.run(loop);
  {
    ModelPeer peer(loop, address_of(owner_));
    pass(Millis(10));
    peer.heard.clear();
    cluster_.stop_node(owner_, seconds(6));
    peer.send(wire({{"EXISTS", std::string(kMissing)}}, {}));
    pass_until_replaced(replica_);
    EXPECT_EQ(peer.heard, "");
    for (int i = 0; i < 10'000 && peer.heard.empty(); ++i) pass(Millis(1));
    EXPECT_EQ(peer.heard, ":0\r\n");
    pass(Millis(100));
    peer.heard.clear();
    peer.send(wire({{"EXISTS", std::string(kMissing)}}, {}));
    pass(Millis(100));
    EXPECT_TRUE(peer.heard.starts_with("-MOVED ")) << peer.heard;
  }
  clients.leave();
}

TEST_F(SimulatedClusterTest, AWriteIsAnsweredWhenTheReplicaHasIt) {
  Node clients(network_, "clients");
  net::EventLoop loop(clients.poller());
  clients.run(loop);
  {
    ModelPeer peer(loop, address_of(owner_));
    pass(Millis(10));
    cluster_.stop_node(replica_, Millis(200));
    peer.send(wire({{"SET", "k1", "1"}}, {}));
    pass(Millis(100));
    EXPECT_EQ(peer.heard, "");
    pass(Millis(200));
    EXPECT_EQ(peer.heard, "+OK\r\n");
  }
  clients.leave();
}

TEST_F(SimulatedClusterTest, TheBusSaysWhetherAFormerOwnerShowedAnotherValue) {
  ModelBus bus(network_, Nanos(0));
  pass(Millis(10));
  const TimePoint then = network_.scheduler().now();
  bus.note_stale("k1", "1");
  bus.note_stale("k2", "");
  EXPECT_TRUE(bus.showed_another("k1", "2", then, then));
  EXPECT_FALSE(bus.showed_another("k1", "1", then, then)) << "the same value";
  EXPECT_FALSE(bus.showed_another("k1", "2", then + Nanos(1), then + Millis(1)));
  EXPECT_FALSE(bus.showed_another("k1", "2", then - Millis(1), then - Nanos(1)));
  EXPECT_FALSE(bus.showed_another("k2", "2", then, then)) << "it had no such key";
  EXPECT_FALSE(bus.showed_another("k", "2", then, then));
}

TEST_F(SimulatedClusterTest, EachActEndsAndLeavesASettledCluster) {
  const std::vector<std::string> proxies = {"proxy 1"};
  const std::vector<std::function<void()>> acts = {[&] { cluster_.move_slot(); },
                                                   [&] { cluster_.steal_slot(); },
                                                   [&] { cluster_.move_atomically(); },
                                                   [&] { cluster_.fail_over(); },
                                                   [&] { cluster_.kill(seconds(3)); },
                                                   [&] { cluster_.stop(seconds(3)); },
                                                   [&] { cluster_.kill(Millis(100)); },
                                                   [&] { cluster_.stop(Millis(100)); },
                                                   [&] { cluster_.separate(seconds(3), proxies); },
                                                   [&] { cluster_.stop_until_replaced(); }};
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < acts.size(); ++i) {
      const std::size_t before = cluster_.acts();
      acts[i]();
      for (int passed = 0; passed < 60 && cluster_.acts() == before; ++passed) pass(seconds(1));
      ASSERT_EQ(cluster_.acts(), before + 1) << "act " << i << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace heatsink::simulation
