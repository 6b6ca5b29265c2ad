// SPDX-License-Identifier: Apache-2.0
// The tracker of a cluster's node: proofs per slot, gaps, and what it asks of the cluster.
#include <span>
#include <string>
#include <vector>

#include "heatsink/redis/tracker_fixture_for_test.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::redis {
namespace {

// The tracker has to prove `slots`.
class NodeLog final : public TrackerEvents {
 public:
  void on_facts(const ServerFacts& /*facts*/) override {}
  void on_up() override { lines.emplace_back("up"); }
  void on_heartbeat(TimePoint sent_at) override {
    lines.push_back("heartbeat " + std::to_string(sent_at.time_since_epoch() / Millis(1)));
  }
  void on_invalidate(std::string_view name) override {
    lines.push_back("invalidate " + std::string(name));
  }
  void on_flush() override { lines.emplace_back("flush"); }
  void on_filled(FillReply& reply) override {
    lines.emplace_back(reply.outcome == FillReply::Outcome::kFailed ? "failed" : "filled");
  }
  void on_barrier(std::uint64_t token) override {
    lines.push_back("barrier " + std::to_string(token));
  }
  void on_rights_changed() override {}
  void on_down(const std::string& reason) override { lines.push_back("down: " + reason); }
  void on_slot_lost(std::uint16_t slot) override {
    lines.push_back("lost " + std::to_string(slot));
  }
  void on_cluster_epoch(std::uint64_t epoch, TimePoint asked_at) override {
    lines.push_back("epoch " + std::to_string(epoch) + " at " +
                    std::to_string(asked_at.time_since_epoch() / Millis(1)));
  }
  void on_node_timeout(Nanos timeout) override {
    lines.push_back("timeout " + std::to_string(timeout / Millis(1)));
  }
  std::span<const std::uint16_t> slots_to_prove() override { return slots; }
  bool wants_epoch(TimePoint /*now*/) override { return wants; }

  Lines take() { return std::exchange(lines, {}); }

  std::vector<std::uint16_t> slots = {7};
  bool wants = false;
  Lines lines;
};

std::string setting(std::string_view name, std::string_view value) {
  return "%1\r\n" + bulk(name) + bulk(value);
}

class NodeTracker : public testing::Test {
 protected:
  NodeTracker() { begin("no"); }

  static TrackerOptions options() {
    TrackerOptions options;
    options.heartbeat_key = "hb";
    options.is_node = true;
    options.gap_max = Millis(500);
    return options;
  }
  static std::string node_hello() {
    return "%3\r\n" + bulk("version") + bulk("7.0.15") + bulk("mode") + bulk("cluster") +
           bulk("role") + bulk("master");
  }
  static std::string view(int epoch) {
    return bulk("cluster_state:ok\r\ncluster_current_epoch:" + std::to_string(epoch) + "\r\n");
  }
  static std::string proof(const char* verb, std::uint16_t slot) {
    return request({verb, resp::name_in_slot(slot, "hb")});
  }

  void begin(std::string_view reads_when_down) {
    tracker_.connected(at(0));
    sent();
    hear(kPong + node_hello() + kCommands + kOk +
             setting("cluster-allow-reads-when-down", reads_when_down) +
             setting("cluster-node-timeout", "4000") + view(5) + kBeat,
         at(1));
  }
  // Two proofs, 100 ms apart.
  void bring_up() {
    log_.take();
    ASSERT_TRUE(tracker_.tick(at(101)).ok());
    sent();
    hear(node_hello() + view(5) + kBeat, at(102));
    ASSERT_TRUE(tracker_.up());
    log_.take();
  }
  std::string sent() {
    std::string out(tracker_.output().view());
    tracker_.output().clear();
    return out;
  }
  void hear(const std::string& bytes, TimePoint now) {
    const Status status = tracker_.received(bytes, now);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }

  NodeLog log_;
  Tracker tracker_{options(), log_};
};

TEST_F(NodeTracker, IsUpAfterTwoProofsThatAreApart) {
  EXPECT_THAT(log_.take(), ElementsAre("timeout 4000", "epoch 5 at 0", "heartbeat 0"));
  EXPECT_FALSE(tracker_.up());
  ASSERT_TRUE(tracker_.tick(at(101)).ok());
  hear(node_hello() + view(5) + kBeat, at(102));
  EXPECT_THAT(log_.take(), ElementsAre("epoch 5 at 101", "up", "heartbeat 101"));
}

TEST_F(NodeTracker, EachSlotIsProvenByAKeyThatIsMissing) {
  bring_up();
  log_.slots = {7, 8, 9};
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  EXPECT_EQ(sent(), request({"HELLO", "3"}) + request({"CLUSTER", "INFO"}) + proof("EXISTS", 8) +
                        proof("EXISTS", 9) + proof("EXISTS", 7));
  hear(node_hello() + view(6) + kBeat + "-MOVED 9 10.0.0.1:7000\r\n" + kBeat, at(301));
  EXPECT_THAT(log_.take(), ElementsAre("epoch 6 at 300", "lost 9", "heartbeat 300"));
}

TEST_F(NodeTracker, ASlotThatIsLeavingIsLostAndTheOthersStay) {
  bring_up();
  log_.slots = {7, 8};
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  hear(node_hello() + view(5) + kBeat + "-ASK 7 10.0.0.1:7000\r\n", at(301));
  EXPECT_THAT(log_.take(), ElementsAre("epoch 5 at 300", "lost 7", "heartbeat 300"));
  EXPECT_TRUE(tracker_.up());
}

TEST_F(NodeTracker, WhatAnswersReadsWhileTheClusterIsDownIsProvenByWriting) {
  tracker_.disconnected("test");
  begin("yes");
  ASSERT_TRUE(tracker_.tick(at(101)).ok());
  EXPECT_EQ(sent(), request({"HELLO", "3"}) + request({"CLUSTER", "INFO"}) + proof("PERSIST", 7));
}

TEST_F(NodeTracker, ARefusedFillIsDroppedWithItsSlot) {
  bring_up();
  tracker_.fill(1, {"k", 0}, at(200));
  hear("-MOVED 7629 10.0.0.1:7000\r\n" + integer(-2), at(201));
  const std::string lost = "lost " + std::to_string(resp::key_slot("k"));
  EXPECT_THAT(log_.take(), ElementsAre(lost, "failed"));
  tracker_.fill(2, {"k", 0}, at(202));
  hear(bulk("v") + "-ASK 7629 10.0.0.1:7000\r\n", at(203));
  EXPECT_THAT(log_.take(), ElementsAre(lost, "failed"));
  EXPECT_TRUE(tracker_.up());
}

TEST_F(NodeTracker, ABarrierProvesAllSlots) {
  bring_up();
  log_.slots = {7, 8};
  tracker_.barrier(3, at(200));
  EXPECT_EQ(sent(), request({"CLUSTER", "INFO"}) + proof("EXISTS", 8) + proof("EXISTS", 7));
  hear(view(5) + kBeat + kBeat, at(201));
  EXPECT_THAT(log_.take(), ElementsAre("epoch 5 at 200", "heartbeat 200", "barrier 3"));
}

// Before the replies behind it: what they tell is younger.
TEST_F(NodeTracker, ANodeThatHasTakenSlotsMayHaveLostThemBefore) {
  const auto own = [](int epoch) {
    return bulk("cluster_current_epoch:9\r\ncluster_my_epoch:" + std::to_string(epoch) + "\r\n");
  };
  bring_up();
  for (const int epoch : {3, 3, 4}) {
    tracker_.barrier(1, at(200));
    hear(own(epoch) + kBeat, at(201));
    const Lines lines = log_.take();
    ASSERT_EQ(lines.front() == "flush", epoch == 4);
    EXPECT_EQ(lines.back(), "barrier 1");
  }
  // Another connection has no copies from before.
  tracker_.disconnected("test");
  begin("no");
  bring_up();
  tracker_.barrier(2, at(200));
  hear(own(5) + kBeat, at(201));
  EXPECT_THAT(log_.take(), ElementsAre("epoch 9 at 200", "heartbeat 200", "barrier 2"));
}

TEST_F(NodeTracker, TheEpochIsAskedForWhenItIsDueOrWanted) {
  bring_up();  // asked at 101
  TrackerOptions seldom = options();
  seldom.epoch_interval = Millis(300);
  tracker_.set_options(seldom);
  const std::string beat = request({"HELLO", "3"}) + proof("EXISTS", 7);
  const std::string asking =
      request({"HELLO", "3"}) + request({"CLUSTER", "INFO"}) + proof("EXISTS", 7);
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  EXPECT_EQ(sent(), beat);
  hear(node_hello() + kBeat, at(301));
  ASSERT_TRUE(tracker_.tick(at(401)).ok());
  EXPECT_EQ(sent(), asking);
  hear(node_hello() + view(5) + kBeat, at(402));
  log_.wants = true;
  ASSERT_TRUE(tracker_.tick(at(502)).ok());
  EXPECT_EQ(sent(), asking);
  hear(node_hello() + view(6) + kBeat, at(503));
  EXPECT_THAT(log_.take(), ElementsAre("heartbeat 300", "epoch 5 at 401", "heartbeat 401",
                                       "epoch 6 at 502", "heartbeat 502"));
}

TEST_F(NodeTracker, AfterSilenceItsConnectionIsWorthNothing) {
  bring_up();
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  EXPECT_TRUE(tracker_.tick(at(800)).ok());
  EXPECT_FALSE(tracker_.tick(at(801)).ok());
  // Also if the proxy itself stood still, and the replies lie there.
  EXPECT_FALSE(tracker_.received(node_hello() + view(5) + kBeat, at(900)).ok());
}

TEST_F(NodeTracker, OtherErrorsEndIt) {
  bring_up();
  ASSERT_TRUE(tracker_.tick(at(300)).ok());
  EXPECT_FALSE(tracker_.received(node_hello() + view(5) + "-NOPERM no\r\n", at(301)).ok());
}

}  // namespace
}  // namespace heatsink::redis
