// SPDX-License-Identifier: Apache-2.0
// Tests the order of the reliefs where two of them would decide differently.
#include "heatsink/relief/relief_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/relief/write_gatherer.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadyCarrier final : public WriteCarrier {
 public:
  bool is_ready(std::string_view /*key*/, const GatheredWrite::Target& /*target*/) override {
    return true;
  }
  std::optional<std::string> refusal(std::string_view /*key*/,
                                     const GatheredWrite::Target& /*target*/) override {
    return std::nullopt;
  }
  void send(std::string_view /*key*/, const GatheredWrite::Target& /*target*/,
            std::string_view /*request*/, Pending&& pending) override {
    number = pending.number;
  }

  std::uint32_t number = 0;
};

class ReliefChainTest : public ReliefTest {
 protected:
  void begin(std::initializer_list<const char*> rules) {
    start(rules);
    auto carrier = std::make_unique<ReadyCarrier>();
    carrier_ = carrier.get();
    write_gatherer_ = std::make_unique<WriteGatherer>(*shared, loop, counters, std::move(carrier));
    parts->write_gatherer = write_gatherer_.get();
    chain_ = std::make_unique<ReliefChain>(*parts, client.context);
  }

  // Calls the chain as a session does. True: the request goes to the server.
  bool sends(Request& asked) {
    asked.now = now;
    const std::uint64_t sent_before = client.traffic.sent;
    Outcome outcome = chain_->arrives(asked);
    if (outcome == Outcome::kPass) outcome = chain_->departs(asked);
    const bool is_sent = outcome == Outcome::kPass;
    if (outcome != Outcome::kWaits) chain_->ended(is_sent || client.traffic.sent != sent_before);
    return is_sent;
  }
  bool sends(std::initializer_list<std::string_view> words) { return sends(request(words)); }

  PlayedClient client{1};
  ReadyCarrier* carrier_ = nullptr;
  std::unique_ptr<WriteGatherer> write_gatherer_;
  std::unique_ptr<ReliefChain> chain_;
};

TEST_F(ReliefChainTest, ARequestThatConcernsNoReliefIsSent) {
  begin({});
  EXPECT_TRUE(sends({"GET", "k"}));
  EXPECT_TRUE(sends({"PING"}));
  EXPECT_TRUE(sends({"FROBNICATE"}));
  EXPECT_THAT(client.take(), IsEmpty());
}

TEST_F(ReliefChainTest, PlainWritesPassWhereNoReliefLooksAtThem) {
  begin({});
  EXPECT_TRUE(chain_->passes_plain_sets());
  client.traffic.holds = 1;
  EXPECT_FALSE(chain_->passes_plain_sets());
}

TEST_F(ReliefChainTest, PlainWritesDoNotPassALimit) {
  begin({"match=k,limit.rate=1/s"});
  EXPECT_FALSE(chain_->passes_plain_sets());
}

TEST_F(ReliefChainTest, PlainWritesDoNotPassWhereTheyMayBeGathered) {
  begin({"match=k,coalesce=5ms"});
  EXPECT_TRUE(chain_->passes_plain_gets());
  EXPECT_FALSE(chain_->passes_plain_sets());
}

TEST_F(ReliefChainTest, LimitsOfAllAreAskedBeforeTheCopies) {
  begin({"match=k,limit.rate=1/s,limit.of=all"});
  heat("k");
  fill("k", "v");
  EXPECT_FALSE(sends({"GET", "k"}));
  EXPECT_EQ(client.answer(), "$1|v|");
  EXPECT_FALSE(sends({"GET", "k"}));
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
}

TEST_F(ReliefChainTest, AFillIsHeldToTheLimitAndAHitIsNot) {
  begin({"match=k,limit.rate=1/s"});
  heat("k");
  EXPECT_TRUE(sends({"GETRANGE", "k", "0", "1"}));
  EXPECT_FALSE(sends({"GET", "k"}));
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
  EXPECT_THAT(keeper.fills, IsEmpty());
  fill("k", "v");
  EXPECT_FALSE(sends({"GET", "k"}));
  EXPECT_EQ(client.answer(), "$1|v|");
}

TEST_F(ReliefChainTest, WhatALimitRefusesIsNotGathered) {
  begin({"match=k,limit.rate=1/s,limit.burst=2,coalesce=5ms"});
  EXPECT_TRUE(sends({"INCR", "k"}));
  EXPECT_FALSE(sends({"INCR", "k"}));
  EXPECT_THAT(client.take(), ElementsAre("sent 1"));
  EXPECT_FALSE(sends({"INCR", "k"}));
  EXPECT_THAT(client.take(), ElementsAre(HasSubstr("gets -BUSY")));
}

// A window opened by a refused write would hold up the next write.
TEST_F(ReliefChainTest, WhatALimitRefusesOpensNoWindow) {
  begin({"match=k,limit.rate=1000/s,limit.burst=1,coalesce=1s"});
  EXPECT_TRUE(sends({"GET", "k"}));
  EXPECT_FALSE(sends({"INCR", "k"}));
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
  pass(Millis(10));
  EXPECT_TRUE(sends({"INCR", "k"}));
}

TEST_F(ReliefChainTest, AHitDoesNotOvertakeTheClientsGatheredWrite) {
  begin({"match=k,coalesce=5ms"});
  heat("other");
  fill("other", "v");
  sends({"INCR", "k"});
  sends({"INCR", "k"});
  client.take();
  Request& read = request({"GET", "other"});
  EXPECT_FALSE(sends(read));
  EXPECT_THAT(client.take(), ElementsAre("drains"));
  pass(Millis(5));
  write_gatherer_->answered(carrier_->number, ":2\r\n", now);
  sends(read);
  EXPECT_EQ(client.answer(), "$1|v|");
}

TEST_F(ReliefChainTest, ABarrierWaitsForTheClientsGatheredWrite) {
  begin({"match=k,coalesce=5ms"});
  sends({"INCR", "k"});
  sends({"INCR", "k"});
  EXPECT_FALSE(sends({"HEATSINK", "BARRIER"}));
  EXPECT_THAT(keeper.barriers, IsEmpty());
}

TEST_F(ReliefChainTest, AnswersOfTheKeeperReachTheReliefThatWaits) {
  begin({});
  heat("k");
  Request& read = request({"GET", "k"});
  EXPECT_FALSE(sends(read));
  chain_->barrier_passed(1);
  EXPECT_THAT(client.take(), ElementsAre("held")) << "no barrier waits";
  chain_->filled(std::make_shared<copies::FillAnswer>());
  EXPECT_THAT(client.take(), ElementsAre("let go"));
  EXPECT_TRUE(sends(read)) << "the fill has failed";
  EXPECT_FALSE(sends({"HEATSINK", "BARRIER"}));
  client.take();
  chain_->filled(std::make_shared<copies::FillAnswer>());
  EXPECT_THAT(client.take(), IsEmpty()) << "no read waits";
  chain_->barrier_passed(keeper.barriers.back().ticket);
  EXPECT_THAT(client.take(), ElementsAre("let go"));
}

TEST_F(ReliefChainTest, NothingIsWokenOnceTheClientHasLeft) {
  begin({"match=k,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=1s"});
  sends({"GET", "k"});
  EXPECT_FALSE(sends({"GET", "k"}));
  chain_->close();
  pass(std::chrono::seconds(2));
  EXPECT_THAT(client.take(), ElementsAre("held"));
}

// In a run of GETs (copy_reads.h).
TEST_F(ReliefChainTest, AReadPassesColdIfItsKeyHasNoCopyOrMustEarnOne) {
  begin({});
  heat("k");
  fill("k", "v");
  const std::string run(request({"GET", "k"}).raw);
  GetsAhead gets = chain_->look_ahead(run);
  CopyLookup::Key& key = gets.front().key;
  ASSERT_NE(key.entry, nullptr);
  EXPECT_FALSE(chain_->passes_cold(key));
  key.must_earn = true;
  EXPECT_TRUE(chain_->passes_cold(key));
  const std::string other(request({"GET", "other"}).raw);
  EXPECT_TRUE(chain_->passes_cold(chain_->look_ahead(other).front().key));
}

}  // namespace
}  // namespace heatsink::proxy
