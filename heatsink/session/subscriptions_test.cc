// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// In front of one server; listeners at other nodes need a cluster (tests/integration).
class SubscriptionsTest : public ReliefTest, public Subscriptions::Client {
 protected:
  SubscriptionsTest() {
    start();
    made.emplace(*parts, state, *this);
  }
  Step run(std::initializer_list<std::string_view> words) { return made->run(request(words)); }
  std::vector<std::string> take() { return std::exchange(events, {}); }
  static resp::Value value_of(std::string_view wire) {
    resp::Value out;
    std::size_t used = 0;
    EXPECT_EQ(resp::parse_value(wire, out, used), resp::ValueStatus::kValue);
    return out;
  }

  ClientState state;
  std::optional<Subscriptions> made;
  std::optional<Step> kept;  // instead of a connection
  std::vector<std::string> events;

 private:
  Requester& requester() override { return session_; }
  Upstreams& upstreams() override { throw std::logic_error("no server"); }
  std::shared_ptr<const ClientUser> login_user() const override { return nullptr; }
  bool has_cluster() const override { return false; }
  bool is_bound() const override { return false; }
  bool is_drained() const override { return true; }
  const redis::UpstreamAddress* own_server() const override { return nullptr; }
  std::optional<Step> keep_connection(Request& /*request*/) override { return kept; }
  Step send_subscribing(Request& request, std::uint32_t confirmations) override {
    events.push_back(std::string(request.args()[0]) + " awaits " + std::to_string(confirmations));
    return Step::kDone;
  }
  Step stall_for(Awaited why) override {
    events.emplace_back(why == Awaited::kDrain ? "drains" : "pauses");
    return Step::kStall;
  }
  Step reply(std::string_view /*wire*/) override { return Step::kDone; }
  void confirm(std::string_view /*wire*/) override {}
  Step reply_error(std::string_view /*text*/) override { return Step::kDone; }
  bool closes_when_down() const override { return false; }
  void close_when_flushed() override {}
  bool is_paused() const override { return false; }
  void look_at_end_of_turn() override {}
  void look_later(Nanos /*pause*/, Look /*what*/) override {}
  bool is_between_replies() const override { return true; }
  void give_messages(std::string_view /*wire*/) override {}
  void note_reply_at(TimePoint /*at*/) override {}
  bool closed() const override { return false; }

  PlayedClient session_{1};
};

TEST_F(SubscriptionsTest, MessagesMayArriveFromTheConfirmationOn) {
  EXPECT_TRUE(made->is_at_rest());
  EXPECT_EQ(run({"SUBSCRIBE", "a", "b"}), Step::kDone);
  EXPECT_THAT(take(), ElementsAre("SUBSCRIBE awaits 2"));
  EXPECT_TRUE(state.subscribed());
  EXPECT_FALSE(made->receives_messages() || made->is_settled() || made->is_at_rest());
  made->confirmed(true);
  EXPECT_TRUE(made->receives_messages() && made->is_settled());
  EXPECT_FALSE(made->is_at_rest());
}

TEST_F(SubscriptionsTest, ARefusedSubscriptionTakesBackItsNewNamesOnly) {
  run({"SUBSCRIBE", "a"});
  made->confirmed(true);
  run({"SUBSCRIBE", "a", "b"});
  made->confirmed(false);
  EXPECT_THAT(made->names().channels, ElementsAre("a"));
  EXPECT_TRUE(state.subscribed() && made->receives_messages());
}

TEST_F(SubscriptionsTest, TheServerConfirmsTheEndOfEachChannel) {
  run({"PSUBSCRIBE", "p*", "q*", "r*"});
  made->confirmed(true);
  take();
  run({"PUNSUBSCRIBE"});
  EXPECT_THAT(take(), ElementsAre("PUNSUBSCRIBE awaits 3"));
  EXPECT_TRUE(state.subscribed()) << "messages may arrive until the server has confirmed";
  made->confirmed(true);
  EXPECT_FALSE(state.subscribed());
  EXPECT_TRUE(made->is_at_rest());
  run({"PUNSUBSCRIBE"});
  EXPECT_THAT(take(), ElementsAre("PUNSUBSCRIBE awaits 1"));
}

TEST_F(SubscriptionsTest, AnEndWaitsForTheSubscriptionsThatMayBeRefused) {
  run({"SUBSCRIBE", "a"});
  take();
  EXPECT_EQ(run({"UNSUBSCRIBE"}), Step::kStall);
  EXPECT_THAT(take(), ElementsAre("drains"));
  made->confirmed(true);
  EXPECT_EQ(run({"UNSUBSCRIBE"}), Step::kDone);
}

TEST_F(SubscriptionsTest, WithoutAConnectionNothingIsSubscribed) {
  kept = Step::kStall;
  EXPECT_EQ(run({"SUBSCRIBE", "a"}), Step::kStall);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_TRUE(made->is_at_rest());
  EXPECT_FALSE(state.subscribed());
}

TEST_F(SubscriptionsTest, ExecDecidesAboutEachQueuedSubscription) {
  made->queue(request({"SUBSCRIBE", "a"}), 0);
  made->queue(request({"SUBSCRIBE", "b"}), 1);
  EXPECT_TRUE(made->has_queued());
  EXPECT_FALSE(state.subscribed() || made->is_settled() || made->is_at_rest());
  const resp::Value elements = value_of("*2\r\n-NOPERM no\r\n+OK\r\n");
  made->executed(&elements);
  EXPECT_THAT(made->names().channels, ElementsAre("b"));
  EXPECT_TRUE(state.subscribed() && made->receives_messages());
  made->queue(request({"UNSUBSCRIBE"}), 0);
  const resp::Value unknown;  // the reply was too long to look at: all count as executed
  made->executed(&unknown);
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(SubscriptionsTest, AnAbortedExecChangesNothing) {
  made->queue(request({"SUBSCRIBE", "a"}), 0);
  made->executed(nullptr);
  EXPECT_FALSE(made->has_queued() || state.subscribed());
  made->queue(request({"SUBSCRIBE", "a"}), 0);
  made->drop_queued();
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(SubscriptionsTest, TheNamesMoveToAnotherProcess) {
  run({"SUBSCRIBE", "a"});
  run({"SSUBSCRIBE", "s"});  // in front of one server like any other
  made->confirmed(true);
  made->confirmed(true);
  EXPECT_TRUE(made->can_move() && made->may_release() && made->needs_connection());
  ClientState other;
  Subscriptions there(*parts, other, *this);
  there.take(made->names());
  EXPECT_TRUE(other.subscribed() && there.receives_messages());
  EXPECT_THAT(there.names().shard_channels, ElementsAre("s"));
  EXPECT_GT(there.bytes(), sizeof(Subscriptions));
  for (std::size_t i = 0; i < SubscribedNames::kCarriedMax; ++i)
    run({"SUBSCRIBE", std::to_string(i)});
  EXPECT_FALSE(made->can_move());
}

}  // namespace
}  // namespace heatsink::proxy
