// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/session_carrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/session/testing/client_output_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kOldest = CarriedSession::kOldestLayout;
constexpr std::uint32_t kLatest = CarriedSession::kLayout;

// Has neither a blocked command, nor subscriptions, nor a transaction: their tests say what these
// give to another process.
class SessionCarrierTest : public ClientOutputFixture, public ClientInput::Client {
 protected:
  SessionCarrierTest() { start_output(); }
  SessionCarrier carrier() const {
    return SessionCarrier({state, *servers, input, nullptr, nullptr, nullptr, is_raw});
  }
  // The client gets a connection of its own.
  void lend() {
    upstreams->to_lend = connection(&owner);
    Step step = Step::kDone;
    servers->connection_for(request({"GET", "a"}), true, step);
    ASSERT_NE(servers->own(), nullptr);
  }

  ClientInput input{static_cast<ClientInput::Client&>(*this)};
  bool is_raw = false;

 private:
  bool closed() const override { return false; }
  bool is_closing() const override { return false; }
  bool may_take() const override { return true; }
  std::size_t take_run(std::string_view /*bytes*/, TimePoint /*now*/) override { return 0; }
  Step take(Request& /*request*/) override { return Step::kDone; }
  Step take_oversized(Request& /*request*/) override { return Step::kDone; }
  void send_rest(std::string_view /*bytes*/) override {}
  void rest_is_broken() override {}
  void refuse(std::string_view /*error*/) override {}
  void refuse_tls() override {}
};

TEST_F(SessionCarrierTest, AClientWithoutStateGoesOnInAnyProcess) {
  EXPECT_FALSE(carrier().stays_behind(kOldest));
  EXPECT_TRUE(carrier().may_carry(kOldest));
  EXPECT_THAT(carrier().descriptors(), IsEmpty());
}

TEST_F(SessionCarrierTest, AnOlderProcessKnowsNoNearCaches) {
  state.near_mode_.is_on = true;
  EXPECT_TRUE(carrier().stays_behind(3));
  EXPECT_FALSE(carrier().may_carry(3));
  EXPECT_TRUE(carrier().may_carry(kLatest));
}

TEST_F(SessionCarrierTest, LongNamesStay) {
  state.name_.assign(CarriedSession::kNameMax, 'n');
  EXPECT_FALSE(carrier().stays_behind(kLatest));
  state.name_ += 'n';
  EXPECT_TRUE(carrier().stays_behind(kLatest));
  state.name_.clear();
  state.library_name_.assign(CarriedSession::kNameMax, 'l');
  state.library_version_ = "1";
  EXPECT_TRUE(carrier().stays_behind(kLatest));
}

TEST_F(SessionCarrierTest, StateOnTheServerGoesOnWithItsConnectionOnly) {
  state.pinned_ = true;
  EXPECT_FALSE(carrier().may_carry(kLatest));
  EXPECT_FALSE(carrier().stays_behind(kLatest));  // it may have a connection by then
  lend();
  EXPECT_TRUE(carrier().may_carry(kLatest));
  EXPECT_THAT(carrier().descriptors(), SizeIs(1));
}

TEST_F(SessionCarrierTest, AStreamAndALoginNeedTheConnection) {
  is_raw = true;
  EXPECT_FALSE(carrier().may_carry(kLatest));
  is_raw = false;
  state.user_ = ClientState::User::kOther;
  state.user_name_ = "ann";
  EXPECT_FALSE(carrier().may_carry(kLatest));
  state.user_name_ = "default";  // it has never logged in
  EXPECT_TRUE(carrier().may_carry(kLatest));
}

TEST_F(SessionCarrierTest, WhatIsUnderWayEndsHere) {
  state.login_asked_ = std::make_unique<LoginAsked>();
  EXPECT_FALSE(carrier().may_carry(kLatest));
  EXPECT_FALSE(carrier().stays_behind(kLatest));
  state.login_asked_.reset();
  input.begin_oversized(OversizedRequest::Fate::kSent);
  EXPECT_FALSE(carrier().may_carry(kLatest));
}

TEST_F(SessionCarrierTest, ItCollectsWhatGoesAlong) {
  lend();
  state.name_ = "n";
  state.db_ = 3;
  state.ran_script_at_ = now;
  state.written_.note(shared->upstream_address);
  input.take("PI", now);
  is_raw = true;
  const CarriedSession carried = carrier().carry(7, std::move(state));
  EXPECT_EQ(carried.id, 7U);
  EXPECT_EQ(carried.state.name_, "n");
  EXPECT_EQ(carried.state.db_, 3U);
  EXPECT_EQ(carried.input, "PI");
  EXPECT_TRUE(carried.is_raw && carried.ran_script && carried.has_written);
  ASSERT_TRUE(carried.private_connection);
  EXPECT_TRUE(carried.private_connection->has_login);
  EXPECT_FALSE(carried.waiting || carried.login || carried.listens);
}

}  // namespace
}  // namespace heatsink::proxy
