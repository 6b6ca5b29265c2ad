// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/server_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServerSideTest : public SessionPartsTest, public ServerSide::Client {
 protected:
  void begin() {
    start_parts();
    servers.emplace(*session_parts, state, traffic, *this);
  }
  // The error of a request that finds no connection; "": it waits.
  std::string refusal_of(bool own_connection) {
    Request& asked = request({"GET", "a"});
    Step step = Step::kDone;
    EXPECT_EQ(servers->connection_for(asked, own_connection, step), nullptr);
    return step == Step::kStall ? "" : asked.waited_for().refusal;
  }
  // The client has a connection of its own, which is not ready.
  void lend() {
    upstreams->to_lend = connection(&owner_);
    EXPECT_EQ(refusal_of(true), "");
    ASSERT_NE(servers->own(), nullptr);
    upstreams->take();
    stalls.reset();
  }

  ClientState state;
  ClientTraffic traffic;
  std::optional<ServerSide> servers;
  std::optional<Awaited> stalls;
  bool more_state = false, closes = false;
  int maps = 0;

 private:
  ConnectionOwner& connection_owner() override { return owner_; }
  bool has_more_state() const override { return more_state; }
  std::optional<Destination> destination_of_exec() const override { return std::nullopt; }
  Step stall_for(Awaited why) override {
    stalls = why;
    return Step::kStall;
  }
  void map_changed() override { ++maps; }
  void close_when_flushed() override { closes = true; }

  PlayedOwner owner_;
};

TEST_F(ServerSideTest, ARequestWaitsForTheSharedConnection) {
  begin();
  EXPECT_EQ(refusal_of(false), "");
  EXPECT_EQ(stalls, Awaited::kShared);
  EXPECT_THAT(upstreams->take(), ElementsAre("awaited"));
  EXPECT_EQ(count(copies::Count::kServerAwaited), 0U);
  upstreams->away = true;
  EXPECT_EQ(refusal_of(false), "");
  EXPECT_EQ(count(copies::Count::kServerAwaited), 1U);
}

TEST_F(ServerSideTest, AServerThatIsDownRefuses) {
  options.on_down = policy::OnDown::kClose;
  begin();
  upstreams->down = "upstream a is down";
  upstreams->refuses_login = true;
  EXPECT_THAT(refusal_of(false), HasSubstr("upstream a is down"));
  EXPECT_FALSE(closes) << "the configuration is wrong, which a closed connection would not say";
  upstreams->refuses_login = false;
  EXPECT_THAT(refusal_of(false), HasSubstr("upstream a is down"));
  EXPECT_TRUE(closes);
  EXPECT_EQ(count(copies::Count::kUpstreamErrors), 2U);
}

TEST_F(ServerSideTest, AConnectionOfItsOwnIsBorrowed) {
  begin();
  EXPECT_THAT(refusal_of(true), HasSubstr("all proxy.maximum-private-connections are in use"));
  lend();
  EXPECT_EQ(refusal_of(true), "");
  EXPECT_EQ(stalls, Awaited::kPrivate) << "it is not ready";
  EXPECT_THAT(upstreams->take(), IsEmpty()) << "it has one";
}

TEST_F(ServerSideTest, AnotherConnectionIsTakenWhenNothingIsInFlight) {
  begin();
  lend();
  upstreams->reaches = false;
  traffic.sent = 1;
  EXPECT_EQ(refusal_of(true), "");
  EXPECT_EQ(stalls, Awaited::kDrain);
  traffic.received = 1;
  upstreams->to_lend = nullptr;
  EXPECT_THAT(refusal_of(true), HasSubstr("in use"));
  EXPECT_THAT(upstreams->take(), ElementsAre("given back", "borrowed"));
}

TEST_F(ServerSideTest, StateStaysWhereItIs) {
  begin();
  lend();
  upstreams->reaches = false;
  for (bool* const has : {&state.pinned_, &state.watching_, &more_state}) {
    *has = true;
    EXPECT_TRUE(servers->has_state());
    EXPECT_EQ(refusal_of(true), "");
    EXPECT_EQ(stalls, Awaited::kPrivate);
    *has = false;
  }
  EXPECT_FALSE(servers->has_state());
  EXPECT_THAT(upstreams->take(), IsEmpty());
}

TEST_F(ServerSideTest, TheNameGoesWithTheConnection) {
  begin();
  lend();
  state.pinned_ = state.introduced_ = true;
  servers->give_back(true);
  EXPECT_THAT(upstreams->take(), ElementsAre("given back to be closed"));
  EXPECT_FALSE(state.pinned_ || state.introduced_);
  EXPECT_EQ(servers->own(), nullptr);
  servers->give_back(true);  // there is none
  EXPECT_THAT(upstreams->take(), IsEmpty());
}

TEST_F(ServerSideTest, WhatIsPinnedInsideMultiIsNamedLater) {
  begin();
  lend();
  state.in_multi_ = true;
  servers->pin();
  EXPECT_TRUE(state.pinned_ && state.name_owed_);
}

TEST_F(ServerSideTest, APasswordIsCheckedWithoutALogin) {
  begin();
  Step step = Step::kDone;
  servers->own_without_login(request({"AUTH", "x"}), step);
  EXPECT_THAT(upstreams->take(), ElementsAre("borrowed without login"));
  EXPECT_EQ(state.user_, ClientState::User::kShared) << "as before";
}

TEST_F(ServerSideTest, ARequestOfANewMapOvertakesNoneOfTheOldOne) {
  begin();
  upstreams->version = 1;
  traffic.sent = 1;
  EXPECT_EQ(refusal_of(false), "");
  EXPECT_EQ(stalls, Awaited::kDrain);
  EXPECT_EQ(maps, 0);
  traffic.received = 1;
  EXPECT_FALSE(servers->must_drain_first());
  EXPECT_EQ(maps, 1);
  EXPECT_FALSE(servers->must_drain_first());
  EXPECT_EQ(maps, 1);
}

TEST_F(ServerSideTest, TheConnectionWasLostMeanwhile) {
  begin();
  Request& asked = request({"GET", "a"});
  asked.waited().connection_error = "upstream a: reset";
  upstreams->refuses_login = true;  // so that it does not wait for a shared one
  Step step = Step::kStall;
  EXPECT_EQ(servers->own_in_any_db(asked, step), nullptr);
  EXPECT_EQ(step, Step::kDone);
  EXPECT_THAT(asked.waited_for().refusal, HasSubstr("upstream a: reset"));
  EXPECT_EQ(asked.waited_for().connection_error, "");
}

}  // namespace
}  // namespace heatsink::proxy
