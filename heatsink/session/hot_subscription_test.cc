// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/hot_subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/session/subscriptions.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHot = copies::kHotChannel;

// A client in front of one server, whose confirmations the test says. The list comes at once.
class HotSubscriptionsTest : public ReliefTest,
                             public Subscriptions::Client,
                             public HotChannel::Source {
 protected:
  HotSubscriptionsTest() {
    start();
    parts->hot_channel = &channel_;
    made.emplace(*parts, state, *this);
  }
  Step run(std::initializer_list<std::string_view> words) { return made->run(request(words)); }
  std::vector<std::string> take() { return std::exchange(events, {}); }
  void say(const std::string& text, bool is_list = false) {
    if (inbox_.put(
            0, std::make_shared<const copies::VerdictNews>(copies::VerdictNews{is_list, {text}})))
      channel_.has_news();
  }
  void hear_list() { say("*list", true); }
  static std::string confirmation(std::string_view kind, std::size_t count, char type = '*') {
    ByteBuffer wire;
    append_confirmation(wire, type == '*' ? resp::Protocol::kResp2 : resp::Protocol::kResp3, kind,
                        kHot, count);
    return std::string(wire.view());
  }

  ClientState state;
  std::vector<std::string> events;
  bool drained = true, between = true, is_closed = false;
  std::atomic<std::uint64_t> subscribers_{0};
  copies::VerdictInbox inbox_{1};
  HotChannel channel_{*this, counters, subscribers_};
  std::optional<Subscriptions> made;

 private:
  void ask_verdicts() override {}
  void end_verdicts() override {}
  copies::VerdictInbox::Content take_verdicts() override { return inbox_.take(0); }
  void deliver_verdicts_later() override {}

  Requester& requester() override { return session_; }
  Upstreams& upstreams() override { throw std::logic_error("no server"); }
  std::shared_ptr<const ClientUser> login_user() const override { return nullptr; }
  bool has_cluster() const override { return false; }
  bool is_bound() const override { return false; }
  bool is_drained() const override { return drained; }
  const redis::UpstreamAddress* own_server() const override { return nullptr; }
  std::optional<Step> keep_connection(Request& /*request*/) override {
    events.emplace_back("keeps");
    return std::nullopt;
  }
  Step send_subscribing(Request& request, std::uint32_t confirmations) override {
    events.push_back(std::string(request.raw) + " awaits " + std::to_string(confirmations));
    return Step::kDone;
  }
  Step stall_for(Awaited why) override {
    events.emplace_back(why == Awaited::kDrain ? "drains" : "pauses");
    return Step::kStall;
  }
  Step reply(std::string_view wire) override {
    events.emplace_back(wire);
    return Step::kDone;
  }
  void confirm(std::string_view wire) override { events.emplace_back(wire); }
  Step reply_error(std::string_view text) override {
    events.emplace_back(text);
    return Step::kDone;
  }
  bool closes_when_down() const override { return false; }
  void close_when_flushed() override {}
  bool is_paused() const override { return false; }
  void look_at_end_of_turn() override {}
  void look_later(Nanos /*pause*/, Look /*what*/) override {}
  bool is_between_replies() const override { return between; }
  void give_messages(std::string_view wire) override { events.emplace_back(wire); }
  void note_reply_at(TimePoint /*at*/) override {}
  bool closed() const override { return is_closed; }

  PlayedClient session_{1};
};

TEST_F(HotSubscriptionsTest, TheServerNeverHearsOfIt) {
  EXPECT_EQ(run({"SUBSCRIBE", kHot}), Step::kDone);
  EXPECT_THAT(take(), ElementsAre(confirmation("subscribe", 1)));
  EXPECT_TRUE(state.subscribed());
  EXPECT_FALSE(made->receives_messages() || made->is_at_rest() || made->needs_connection());
  EXPECT_EQ(subscribers_.load(), 1U);
  hear_list();
  say("*change");
  EXPECT_THAT(take(), ElementsAre("*list", "*change"));
  EXPECT_EQ(run({"UNSUBSCRIBE", kHot}), Step::kDone);
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 0)));
  EXPECT_FALSE(state.subscribed());
  EXPECT_TRUE(made->is_at_rest());
  EXPECT_EQ(subscribers_.load(), 0U);
}

TEST_F(HotSubscriptionsTest, InResp3MessagesArePushes) {
  state.protocol_ = resp::Protocol::kResp3;
  run({"SUBSCRIBE", kHot});
  EXPECT_THAT(take(), ElementsAre(confirmation("subscribe", 1, '>')));
  hear_list();
  EXPECT_THAT(take(), ElementsAre(">list"));
}

TEST_F(HotSubscriptionsTest, OtherChannelsOfTheCommandGoToTheServerFirst) {
  run({"SUBSCRIBE", "a", kHot, "b"});
  EXPECT_THAT(
      take(),
      ElementsAre("keeps", "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n awaits 2", "drains"));
  EXPECT_FALSE(made->hot().recounts());
  EXPECT_EQ(subscribers_.load(), 0U);
  made->confirmed(true);
  EXPECT_THAT(take(), ElementsAre(confirmation("subscribe", 3)));
  run({"UNSUBSCRIBE", kHot, "a"});
  EXPECT_THAT(take(),
              ElementsAre("keeps", "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n awaits 1", "drains"));
  EXPECT_TRUE(made->hot().recounts()) << "the client still hears it when the server confirms";
  made->confirmed(true);
  EXPECT_FALSE(made->hot().recounts());
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 1)));
}

TEST_F(HotSubscriptionsTest, WhatTheServerRefusesIsRefusedWhole) {
  run({"SUBSCRIBE", kHot, "a"});
  take();
  made->confirmed(false);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_TRUE(made->is_at_rest());
  EXPECT_FALSE(state.subscribed());
}

TEST_F(HotSubscriptionsTest, WhileItIsHeardTheServersNumbersAreCorrected) {
  run({"SUBSCRIBE", kHot});
  for (const char* command : {"SUBSCRIBE", "PSUBSCRIBE"}) {
    run({command, "a"});
    EXPECT_TRUE(made->hot().recounts()) << command;
    EXPECT_EQ(made->hot().recount(confirmation("subscribe", 1)), confirmation("subscribe", 2));
    made->confirmed(true);
    EXPECT_FALSE(made->hot().recounts());
  }
  run({"SSUBSCRIBE", "s"});
  EXPECT_FALSE(made->hot().recounts()) << "shard channels have a number of their own";
  made->confirmed(true);
  take();
  run({"UNSUBSCRIBE", kHot});
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 2)));
}

TEST_F(HotSubscriptionsTest, AnUnsubscribeWithoutNamesEndsItLast) {
  run({"SUBSCRIBE", "a", kHot});
  made->confirmed(true);
  take();
  run({"UNSUBSCRIBE"});
  EXPECT_THAT(take(), ElementsAre("keeps", "*1\r\n$11\r\nUNSUBSCRIBE\r\n awaits 1", "drains"));
  EXPECT_TRUE(made->hot().recounts());
  made->confirmed(true);
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 0)));
  EXPECT_TRUE(made->is_at_rest());
  run({"SUBSCRIBE", kHot});
  take();
  run({"UNSUBSCRIBE"});
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 0))) << "no server is asked";
  run({"UNSUBSCRIBE"});
  EXPECT_THAT(take(), ElementsAre("keeps", HasSubstr("awaits 1")));
}

TEST_F(HotSubscriptionsTest, ItWaitsUntilNothingIsInFlight) {
  drained = false;
  EXPECT_EQ(run({"SUBSCRIBE", kHot}), Step::kStall);
  EXPECT_THAT(take(), ElementsAre("drains"));
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(HotSubscriptionsTest, AUserOfItsOwnNeedsTheOption) {
  state.user_ = ClientState::User::kOther;
  run({"SUBSCRIBE", "a", kHot});
  EXPECT_THAT(take(), ElementsAre(HasSubstr("NOPERM")));
  EXPECT_TRUE(made->is_at_rest());
  run({"UNSUBSCRIBE", kHot});
  EXPECT_THAT(take(), ElementsAre(confirmation("unsubscribe", 0)));
}

TEST_F(HotSubscriptionsTest, AMessageWaitsForTheEndOfAReply) {
  run({"SUBSCRIBE", kHot});
  take();
  between = false;
  hear_list();
  say("*change");
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_FALSE(made->may_release());
  between = true;
  made->give_heard();
  EXPECT_THAT(take(), ElementsAre("*list*change"));
  EXPECT_TRUE(made->may_release());
}

TEST_F(HotSubscriptionsTest, InResp2OtherCommandsAreRefused) {
  run({"SUBSCRIBE", kHot});
  take();
  EXPECT_TRUE(made->restricts());
  EXPECT_TRUE(made->refuses(request({"GET", "k"})));
  EXPECT_THAT(take(), ElementsAre(HasSubstr("Can't execute 'get'")));
  EXPECT_TRUE(made->refuses(request({"PING"})));
  EXPECT_THAT(take(), ElementsAre("*2\r\n$4\r\npong\r\n$0\r\n\r\n"));
  EXPECT_FALSE(made->refuses(request({"SUBSCRIBE", "a"})));
  state.protocol_ = resp::Protocol::kResp3;
  EXPECT_FALSE(made->refuses(request({"GET", "k"})));
}

TEST_F(HotSubscriptionsTest, TheSubscriptionMovesAndEndsWithItsOwner) {
  run({"SUBSCRIBE", kHot});
  hear_list();
  EXPECT_TRUE(made->can_move() && made->may_release());
  ClientState other;
  {
    Subscriptions there(*parts, other, *this);
    there.take(made->names());
    EXPECT_TRUE(other.subscribed() && there.names().hears_hot);
    EXPECT_EQ(subscribers_.load(), 2U);
  }
  EXPECT_EQ(subscribers_.load(), 1U);
  made->close();
  EXPECT_EQ(subscribers_.load(), 0U);
}

TEST_F(HotSubscriptionsTest, AClosedClientHearsNothing) {
  run({"SUBSCRIBE", kHot});
  take();
  is_closed = true;
  hear_list();
  EXPECT_THAT(take(), IsEmpty());
}

class HotChannelOff : public HotSubscriptionsTest {
 protected:
  HotChannelOff() { shared->publish(off()); }
  std::shared_ptr<const copies::PolicySnapshot> off() {
    policy::ProxyOptions changed = shared->options();
    changed.hot_channel = policy::HotChannelFor::kOff;
    return std::make_shared<const copies::PolicySnapshot>(changed, shared->credentials(),
                                                          shared->shown, shared->held().get());
  }
};

TEST_F(HotChannelOff, ItIsAnOrdinaryChannelOfTheServer) {
  EXPECT_FALSE(made->hot().concerns(request({"SUBSCRIBE", kHot})));
  run({"SUBSCRIBE", kHot});
  EXPECT_THAT(take(), ElementsAre("keeps", HasSubstr("awaits 1")));
  EXPECT_EQ(subscribers_.load(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy
