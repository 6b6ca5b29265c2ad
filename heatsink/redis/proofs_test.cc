// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/proofs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "heatsink/redis/tracker_part_for_test.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::redis {
namespace {

// A node with the slots 1, 2, 3.
struct NodeProven : TrackerPartForTest {
  struct Events final : TrackerEvents {
    void on_facts(const ServerFacts&) override {}
    void on_up() override {}
    void on_heartbeat(TimePoint) override {}
    void on_invalidate(std::string_view) override {}
    void on_flush() override { told += "flush "; }
    void on_filled(FillReply&) override {}
    void on_barrier(std::uint64_t) override {}
    void on_rights_changed() override {}
    void on_down(const std::string&) override {}
    void on_slot_lost(std::uint16_t slot) override { told += "lost " + std::to_string(slot) + " "; }
    void on_cluster_epoch(std::uint64_t epoch, TimePoint) override {
      told += "epoch " + std::to_string(epoch) + " ";
    }
    bool wants_epoch(TimePoint) override { return wants; }
    void on_node_timeout(Nanos timeout) override {
      told += std::to_string(timeout / Millis(1)) + " ms ";
    }
    std::span<const std::uint16_t> slots_to_prove() override { return slots; }

    std::vector<std::uint16_t> slots = {1, 2, 3};
    bool wants = false;
    std::string told;
  };

  NodeProven() {
    options.is_node = true;
    options.heartbeat_key = "hb";
    options.epoch_interval = Millis(500);
  }
  std::string read(int slot, const char* verb = "EXISTS") const {
    return request({verb, resp::name_in_slot(static_cast<std::uint16_t>(slot), "hb")});
  }
  std::string heartbeat(int ms) {
    proofs.send(Question::kHeartbeat, at(ms), 0);
    return sent();
  }

  Events events;
  Proofs proofs{options, requests, events};
};

const std::string kAsksEpoch = request({"CLUSTER", "INFO"});

TEST(Proofs, OfAServerAreOneRead) {
  NodeProven it;
  it.options.is_node = false;
  EXPECT_EQ(it.heartbeat(0), request({"EXISTS", "hb"}));
  EXPECT_TRUE(it.proofs.may_be_up({Question::kHeartbeat, at(0)}));
}

TEST(Proofs, OfANodeAreOneReadForEachSlotAndTheFirstSlotEndsThem) {
  NodeProven it;
  EXPECT_EQ(it.heartbeat(0), kAsksEpoch + it.read(2) + it.read(3) + it.read(1));
  it.requests.take_oldest();
  EXPECT_EQ(it.requests.take_oldest().token, 2U) << "the slot";
  it.proofs.on_last_refused();
  EXPECT_EQ(it.events.told, "lost 1 ");
  EXPECT_FALSE(it.proofs.has_many_slots());
  it.events.slots.resize(100);
  std::iota(it.events.slots.begin(), it.events.slots.end(), std::uint16_t{0});
  it.heartbeat(1);
  EXPECT_TRUE(it.proofs.has_many_slots());
}

TEST(Proofs, TheEpochIsAskedEachIntervalAndWhenItIsWanted) {
  NodeProven it;
  const std::string without = it.read(2) + it.read(3) + it.read(1);
  EXPECT_EQ(it.heartbeat(0), kAsksEpoch + without);
  EXPECT_EQ(it.heartbeat(499), without);
  it.events.wants = true;
  EXPECT_EQ(it.heartbeat(499), kAsksEpoch + without);
  it.events.wants = false;
  EXPECT_EQ(it.heartbeat(998), without);
  EXPECT_EQ(it.heartbeat(999), kAsksEpoch + without);
}

TEST(Proofs, ANodeThatReadsWhileTheClusterIsDownProvesByWriting) {
  const auto verb_after = [](const std::string& reply) {
    NodeProven it;
    it.proofs.on_setting(Question::kReadsWhenDown, value_of(reply));
    it.heartbeat(0);
    return it.heartbeat(1) == it.read(2) + it.read(3) + it.read(1) ? "EXISTS" : "PERSIST";
  };
  const std::string name = "$29\r\ncluster-allow-reads-when-down\r\n";
  EXPECT_EQ(verb_after("%1\r\n" + name + "$2\r\nno\r\n"), "EXISTS");
  EXPECT_EQ(verb_after("%1\r\n" + name + "$3\r\nyes\r\n"), "PERSIST");
  EXPECT_EQ(verb_after("-NOPERM no\r\n"), "PERSIST") << "it may allow what is dangerous";
  EXPECT_EQ(verb_after("%0\r\n"), "EXISTS") << "Redis before 6 has no such setting";
}

TEST(Proofs, ANodeIsUpWithItsSecondProof) {
  NodeProven it;
  it.options.second_proof_after = Millis(100);
  EXPECT_FALSE(it.proofs.has_first());
  EXPECT_FALSE(it.proofs.may_be_up({Question::kHeartbeat, at(50)}));
  EXPECT_TRUE(it.proofs.has_first());
  EXPECT_FALSE(it.proofs.may_be_up({Question::kHeartbeat, at(149)}));
  EXPECT_TRUE(it.proofs.may_be_up({Question::kHeartbeat, at(150)}));
  it.proofs.begin();
  EXPECT_FALSE(it.proofs.may_be_up({Question::kHeartbeat, at(500)})) << "a new connection";
}

// It has lost slots meanwhile and taken them back.
TEST(Proofs, AnotherEpochOfTheNodeItselfFlushes) {
  NodeProven it;
  const auto view = [&](int own, int current) {
    const std::string text = "cluster_current_epoch:" + std::to_string(current) +
                             "\r\ncluster_my_epoch:" + std::to_string(own) + "\r\n";
    it.proofs.on_view(value_of("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"), at(0));
  };
  view(3, 7);
  view(3, 8);
  EXPECT_EQ(it.events.told, "epoch 7 epoch 8 ");
  view(9, 9);
  EXPECT_EQ(it.events.told, "epoch 7 epoch 8 flush epoch 9 ");
}

TEST(Proofs, KnowRefusalsAndTheTimeOutOfTheNode) {
  for (const char* refusal :
       {"-MOVED 1 h:7\r\n", "-ASK 1 h:7\r\n", "-TRYAGAIN x\r\n", "-CLUSTERDOWN x\r\n"})
    EXPECT_TRUE(Proofs::is_refusal(value_of(refusal))) << refusal;
  EXPECT_FALSE(Proofs::is_refusal(value_of("-NOPERM x\r\n")));
  EXPECT_FALSE(Proofs::is_refusal(value_of("+MOVED x\r\n")));
  EXPECT_TRUE(Proofs::on_slot_proof(value_of(":0\r\n")).ok());
  EXPECT_FALSE(Proofs::on_slot_proof(value_of("-NOPERM x\r\n")).ok());
  NodeProven it;
  it.proofs.on_setting(Question::kNodeTimeout,
                       value_of("%1\r\n$20\r\ncluster-node-timeout\r\n$5\r\n15000\r\n"));
  EXPECT_EQ(it.events.told, "15000 ms ");
}

}  // namespace
}  // namespace heatsink::redis
