// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class BarriersTest : public ReliefTest {
 protected:
  void begin() {
    start();
    barriers_ = std::make_unique<Barriers>(*parts, client.context);
  }
  Outcome arrives(Request& asked) {
    asked.now = now;
    return barriers_->arrives(asked);
  }
  Outcome arrives(std::initializer_list<std::string_view> words) { return arrives(request(words)); }
  std::string answer_to(std::initializer_list<std::string_view> words) {
    EXPECT_EQ(arrives(words), Outcome::kAnswered);
    return client.answer();
  }
  void tracker_answers() { barriers_->passed(keeper.barriers.back().ticket); }

  PlayedClient client{1};
  std::unique_ptr<Barriers> barriers_;
};

TEST_F(BarriersTest, OtherCommandsArePassedOn) {
  begin();
  EXPECT_EQ(arrives({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(arrives({"FROBNICATE"}), Outcome::kPass);
  EXPECT_THAT(client.take(), IsEmpty());
}

TEST_F(BarriersTest, ABarrierIsAnsweredWhenTheTrackerHasAnswered) {
  begin();
  Request& barrier = request({"HEATSINK", "BARRIER"});
  EXPECT_EQ(arrives(barrier), Outcome::kWaits);
  ASSERT_EQ(keeper.barriers.size(), 1U);
  EXPECT_EQ(keeper.barriers.front().session, client.id());
  EXPECT_THAT(client.take(), ElementsAre("held"));
  tracker_answers();
  EXPECT_EQ(arrives(barrier), Outcome::kAnswered);
  EXPECT_THAT(client.take(), ElementsAre("let go", "gets +OK|"));
  EXPECT_EQ(count(copies::Count::kBarrierCommands), 1U);
  EXPECT_EQ(keeper.barriers.size(), 1U) << "it does not ask twice";
}

// The fill's answer may be under way, with a value from before the barrier.
TEST_F(BarriersTest, NoFillThatWasAskedForEarlierIsJoinedBehindIt) {
  begin();
  now += Millis(5);
  arrives({"HEATSINK", "BARRIER"});
  EXPECT_GE(shared->fences.fence_to_join(TimePoint{}), now);
}

TEST_F(BarriersTest, ABarrierThatIsLateIsAnError) {
  begin();
  Request& barrier = request({"HEATSINK", "BARRIER", "20"});
  arrives(barrier);
  pass(Millis(19));
  EXPECT_THAT(client.take(), ElementsAre("held"));
  pass(Millis(1));
  EXPECT_EQ(arrives(barrier), Outcome::kAnswered);
  EXPECT_THAT(client.take(), ElementsAre("let go", StartsWith("gets -TIMEOUT heatsink: could not "
                                                              "confirm within 20ms")));
  EXPECT_EQ(count(copies::Count::kBarrierCommandsLate), 1U);
}

TEST_F(BarriersTest, TheAnswerToALateBarrierLetsNoOtherOneGo) {
  begin();
  arrives({"HEATSINK", "BARRIER", "20"});
  pass(Millis(20));
  client.take();
  const std::uint64_t late = keeper.barriers.back().ticket;
  arrives({"HEATSINK", "BARRIER"});
  barriers_->passed(late);
  EXPECT_THAT(client.take(), ElementsAre("held"));
  tracker_answers();
  EXPECT_THAT(client.take(), ElementsAre("let go"));
}

TEST_F(BarriersTest, ABarrierInTimeIsNotLateAfterwards) {
  begin();
  Request& barrier = request({"HEATSINK", "BARRIER", "20"});
  arrives(barrier);
  tracker_answers();
  pass(std::chrono::seconds(1));
  arrives(barrier);
  EXPECT_EQ(client.answer(), "+OK|");
}

// Each BARRIER has its own timer and cancels it: a left-over timer would hide a later one.
TEST_F(BarriersTest, AClientThatLeavesBehindSeveralBarriersLeavesNoTimer) {
  begin();
  arrives({"HEATSINK", "BARRIER", "20"});
  tracker_answers();
  arrives({"HEATSINK", "BARRIER", "30"});
  client.take();
  pass(Millis(20));
  barriers_->close();
  pass(Millis(10));
  EXPECT_THAT(client.take(), IsEmpty());
}

TEST_F(BarriersTest, AClientThatLeavesIsNotWoken) {
  begin();
  arrives({"HEATSINK", "BARRIER", "20"});
  barriers_->close();
  pass(std::chrono::seconds(1));
  EXPECT_THAT(client.take(), ElementsAre("held"));
}

TEST_F(BarriersTest, WithoutCopiesThereIsNothingToWaitFor) {
  options.cache_enabled = false;
  begin();
  EXPECT_EQ(answer_to({"HEATSINK", "BARRIER"}), "+OK|");
  EXPECT_THAT(keeper.barriers, IsEmpty());
}

// Earlier requests of the client are answered first.
TEST_F(BarriersTest, ItWaitsForTheClientsOwnCommands) {
  begin();
  client.traffic.sent = 1;
  Request& barrier = request({"HEATSINK", "BARRIER"});
  EXPECT_EQ(arrives(barrier), Outcome::kWaits);
  EXPECT_EQ(arrives({"HEATSINK", "HELP"}), Outcome::kWaits);
  EXPECT_THAT(client.take(), ElementsAre("drains", "drains"));
  client.traffic.received = 1;
  EXPECT_EQ(arrives(barrier), Outcome::kWaits);
  EXPECT_EQ(keeper.barriers.size(), 1U);
}

// The server does not know the command, so the transaction fails and EXEC reports it.
TEST_F(BarriersTest, InsideATransactionTheServerRefusesIt) {
  begin();
  client.state.in_multi_ = true;
  Request& barrier = request({"HEATSINK", "BARRIER"});
  EXPECT_EQ(arrives(barrier), Outcome::kPass);
  EXPECT_EQ(barrier.route, Route::kPrivate);
}

TEST_F(BarriersTest, ASubscriberInResp2MaySayNoSuchThing) {
  begin();
  client.state.subscribed_ = true;
  EXPECT_EQ(arrives({"HEATSINK", "BARRIER"}), Outcome::kPass);
  client.state.protocol_ = resp::Protocol::kResp3;
  EXPECT_EQ(arrives({"HEATSINK", "BARRIER"}), Outcome::kWaits);
}

TEST_F(BarriersTest, AClientThatHasNotLoggedInIsRefused) {
  begin();
  client.state.user_ = ClientState::User::kUnauthenticated;
  EXPECT_EQ(answer_to({"HEATSINK", "BARRIER"}), "-NOAUTH Authentication required.|");
}

TEST_F(BarriersTest, WhatIsWrongIsSaid) {
  begin();
  EXPECT_THAT(answer_to({"HEATSINK"}), HasSubstr("wrong number of arguments"));
  EXPECT_THAT(answer_to({"heatsink", "frob"}), HasSubstr("unknown subcommand"));
  EXPECT_THAT(answer_to({"heatsink", "help", "me"}), HasSubstr("'help'"));
  for (const char* timeout : {"0", "60001", "1.5", "", "x", "-1", "99999999999999999999"})
    EXPECT_THAT(answer_to({"HEATSINK", "BARRIER", timeout}), HasSubstr("must be 1 to 60000"))
        << timeout;
  EXPECT_THAT(answer_to({"HEATSINK", "BARRIER", "1", "2"}), HasSubstr("must be 1 to 60000"));
  EXPECT_THAT(answer_to({"Heatsink", "Help"}), StartsWith("*10|+HEATSINK <subcommand>"));
}

}  // namespace
}  // namespace heatsink::proxy
