// SPDX-License-Identifier: Apache-2.0
// Which reads may go to copies on nodes. That they do is shown with real nodes:
// tests/integration/cluster_spread_test.py.
#include "heatsink/relief/spread_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "heatsink/relief/spread_keys.h"
#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/topology/topology.h"

namespace heatsink::proxy {
namespace {

using testing::IsEmpty;

// A cluster to which no connection is ready. Counts the questions for one.
class PlayedNodes final : public Upstreams {
 public:
  explicit PlayedNodes(const redis::UpstreamAddress& server) : server_(server) {}

  std::shared_ptr<const topology::SlotMap> slot_map() override { return map; }
  Shared shared(resp::Protocol /*protocol*/, const Destination& /*to*/) override {
    ++asked;
    return {server_, nullptr, nullptr};
  }
  void await_shared(resp::Protocol /*protocol*/, const Destination& /*to*/,
                    const Requester& /*session*/) override {}
  Upstream* shared_beside(const Upstream& /*connection*/) override { return nullptr; }
  bool is_away(const Destination& /*to*/) override { return false; }
  std::unique_ptr<Upstream> borrow(ConnectionOwner& /*session*/, const Destination& /*to*/,
                                   const Need& /*need*/) override {
    return nullptr;
  }
  bool carries(const Upstream& /*connection*/, const Destination& /*to*/) override { return false; }
  void give_back(std::unique_ptr<Upstream> /*connection*/, bool /*clean*/) override {}
  void ready(Upstream& /*connection*/) override {}
  void failed(Upstream& /*connection*/, const std::string& /*reason*/) override {}
  void check_timeouts(TimePoint /*now*/) override {}
  void wake_ready() override {}
  void end_turn() override {}
  bool owes_nothing() const override { return true; }
  void shrink() override {}
  std::uint64_t memory_bytes() const override { return 0; }

  std::shared_ptr<const topology::SlotMap> map = std::make_shared<topology::SlotMap>();
  int asked = 0;

 private:
  const redis::UpstreamAddress& server_;
};

class SpreadReadsTest : public ReliefTest {
 protected:
  void begin() {
    start({"match=hot,level=off,spread.copies=6", "match=count,level=off,spread.parts=8"});
    nodes = std::make_unique<PlayedNodes>(shared->upstream_address);
    spread = std::make_unique<SpreadKeys>(*shared, loop, counters, *nodes, kSeed,
                                          [](std::uint64_t /*client*/) {});
    parts->spread = spread.get();
    relief = std::make_unique<SpreadReads>(*parts, client.context);
  }
  // Without a connection it passes, but only after all that could be against it was asked.
  bool may_go(std::initializer_list<std::string_view> words) {
    const int before = nodes->asked;
    EXPECT_EQ(relief->departs(request(words)), Outcome::kPass);
    return nodes->asked > before;
  }
  void refuses(bool& flag, bool value = true) {
    const bool before = std::exchange(flag, value);
    EXPECT_FALSE(may_go({"GET", "hot"}));
    flag = before;
    EXPECT_TRUE(may_go({"GET", "hot"}));
  }

  PlayedClient client{5};
  std::unique_ptr<PlayedNodes> nodes;
  std::unique_ptr<SpreadKeys> spread;
  std::unique_ptr<SpreadReads> relief;
};

TEST_F(SpreadReadsTest, OnlyGetOfAKeyWithCopies) {
  begin();
  EXPECT_TRUE(may_go({"GET", "hot"}));
  EXPECT_FALSE(may_go({"GET", "other"}));
  EXPECT_FALSE(may_go({"GET", "count"}));
  EXPECT_FALSE(may_go({"GET"}));
  EXPECT_FALSE(may_go({"GET", "hot", "hot"}));
  EXPECT_FALSE(may_go({"MGET", "hot"}));
  EXPECT_FALSE(may_go({"SET", "hot", "v"}));
  EXPECT_TRUE(relief->applies("hot"));
  EXPECT_TRUE(relief->applies("count"));
  EXPECT_FALSE(relief->applies("other"));
}

TEST_F(SpreadReadsTest, NotOfClientsWithState) {
  begin();
  refuses(client.state.in_multi_);
  refuses(client.state.watching_);
  refuses(client.state.no_local_reads_);
  refuses(client.is_silent);
  refuses(client.is_sharing, false);
  client.state.db_ = 1;
  EXPECT_FALSE(may_go({"GET", "hot"}));
  client.state.db_ = 0;
  client.state.user_ = ClientState::User::kOther;
  EXPECT_FALSE(may_go({"GET", "hot"}));
}

TEST_F(SpreadReadsTest, NotBehindTheClientsOwnWrite) {
  begin();
  client.traffic.note_write(name("hot"));
  EXPECT_FALSE(may_go({"GET", "hot"}));
  client.traffic.forget();
  client.traffic.holds = 1;  // the server has answered the write, the nodes of the copies have not
  EXPECT_FALSE(may_go({"GET", "hot"}));
  client.traffic.holds = 0;
  EXPECT_TRUE(may_go({"GET", "hot"}));
}

TEST_F(SpreadReadsTest, RepliesInFlightAreBounded) {
  begin();
  client.traffic.sent = 126;
  EXPECT_TRUE(may_go({"GET", "hot"}));
  client.traffic.sent = 128;
  EXPECT_FALSE(may_go({"GET", "hot"}));
  client.traffic.received = 2;
  EXPECT_TRUE(may_go({"GET", "hot"}));
  client.known_bytes = 100'000;
  EXPECT_FALSE(may_go({"GET", "hot"}));
  client.traffic.received = 120;
  EXPECT_TRUE(may_go({"GET", "hot"}));
  client.traffic.received = 128;
  client.known_bytes = spread::kValueBytesMax + 1;
  EXPECT_FALSE(may_go({"GET", "hot"})) << "it has no copies";
}

TEST_F(SpreadReadsTest, ASingleServerHasNoCopies) {
  begin();
  nodes->map = nullptr;
  EXPECT_FALSE(may_go({"GET", "hot"}));
}

TEST_F(SpreadReadsTest, ReadsInFlightHoldBackNothingUnlessTheyGoToCopies) {
  begin();
  EXPECT_TRUE(may_go({"GET", "hot"}));
  EXPECT_EQ(relief->arrives(request({"SET", "hot", "v"})), Outcome::kPass);
  EXPECT_THAT(client.take(), IsEmpty());
}

}  // namespace
}  // namespace heatsink::proxy
