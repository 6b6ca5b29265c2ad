// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/carried_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/handover/handover.h"

namespace heatsink::proxy {
namespace {

CarriedSession sample() {
  CarriedSession session;
  session.id = 77;
  session.state.protocol_ = resp::Protocol::kResp3;
  session.state.user_ = ClientState::User::kOther;
  session.state.user_name_ = "alice";
  session.state.name_ = "worker-1";
  session.state.library_name_ = "lib";
  session.state.library_version_ = "1.2";
  session.state.db_ = 3;
  session.state.pinned_ = session.state.introduced_ = session.state.watching_ = true;
  for (const char* name : {"a", "b"}) session.subscriptions.channels.insert(name);
  session.subscriptions.patterns.insert("p*");
  session.subscriptions.receives_messages = true;
  session.input = "*2\r\n$3\r\nGE";
  session.ran_script = true;
  session.private_connection = {resp::Protocol::kResp3, false, true, 3};
  session.waiting = {"*3\r\n...", 12, true};
  return session;
}

TEST(CarriedSession, ArrivesAsItWasSent) {
  const Result<CarriedSession> got = decode_session(encode(sample()));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->id, 77U);
  EXPECT_EQ(got->state.protocol_, resp::Protocol::kResp3);
  EXPECT_EQ(got->state.user_, ClientState::User::kOther);
  EXPECT_EQ(got->state.user_name_, "alice");
  EXPECT_EQ(got->state.name_, "worker-1");
  EXPECT_EQ(got->state.library_version_, "1.2");
  EXPECT_EQ(got->state.db_, 3U);
  EXPECT_TRUE(got->state.pinned_ && got->state.introduced_ && got->state.watching_);
  EXPECT_FALSE(got->state.in_multi_ || got->state.reply_off_ || got->state.lent_name_);
  EXPECT_THAT(got->subscriptions.channels, ::testing::ElementsAre("a", "b"));
  EXPECT_THAT(got->subscriptions.patterns, ::testing::ElementsAre("p*"));
  EXPECT_EQ(got->input, sample().input);
  EXPECT_TRUE(got->ran_script);
  EXPECT_EQ(got->private_connection->db, 3U);
  EXPECT_FALSE(got->private_connection->has_login);
  EXPECT_EQ(got->waiting->request, "*3\r\n...");
  EXPECT_EQ(got->waiting->connection, 12U);
  EXPECT_TRUE(got->waiting->silent);
}

// In front of a cluster: a transaction that the proxy queues, a user's login, a listener.
CarriedSession of_a_cluster() {
  CarriedSession session;
  session.id = 78;
  session.state.user_ = ClientState::User::kOther;
  session.state.user_name_ = "alice";
  session.login = redis::Credentials{"alice", "wonder"};
  session.state.in_multi_ = true;
  session.transaction.queued = 2;
  session.transaction.queue = QueuedTransaction{};
  session.transaction.queue->requests = {"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"};
  session.transaction.queue->scripts = {"sha1"};
  session.transaction.queue->slot = 16383;
  session.transaction.queue->failed = session.transaction.queue->watches = true;
  session.subscriptions.shard_channels.insert("shard");
  session.listens = session.has_written = true;
  session.nodes = 2;
  session.transaction.watched_slot = 7;
  return session;
}

TEST(CarriedSession, OneOfAClusterArrivesAsItWasSent) {
  const Result<CarriedSession> got = decode_session(encode(of_a_cluster()));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->login->user, "alice");
  EXPECT_EQ(got->login->password, "wonder");
  EXPECT_EQ(got->transaction.queued, 2U);
  EXPECT_EQ(got->transaction.queue->requests, of_a_cluster().transaction.queue->requests);
  EXPECT_EQ(got->transaction.queue->bytes, 14U + 20U);
  EXPECT_THAT(got->transaction.queue->scripts, ::testing::ElementsAre("sha1"));
  EXPECT_EQ(got->transaction.queue->slot, 16383);
  EXPECT_TRUE(got->transaction.queue->failed && got->transaction.queue->watches &&
              got->has_written && got->listens);
  EXPECT_EQ(got->nodes, 2U);
  EXPECT_EQ(got->transaction.watched_slot, 7);
  EXPECT_FALSE(got->private_connection || got->state.replicates_);
}

TEST(CarriedSession, AReplicaArrivesAsOne) {
  CarriedSession session;
  session.id = 1;
  session.is_raw = session.state.replicates_ = true;
  session.private_connection.emplace();
  EXPECT_TRUE(decode_session(encode(session))->state.replicates_);
  session.is_raw = false;
  EXPECT_FALSE(decode_session(encode(session)).ok());
}

TEST(CarriedSession, TheFirstLayoutIsReadAndWritten) {
  CarriedSession session = sample();
  session.has_written = true;
  const std::string bytes = encode(session, 1);
  const Result<CarriedSession> got = decode_session(bytes);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->waiting->connection, 12U);
  EXPECT_FALSE(got->has_written) << "the first layout cannot say it";
}

TEST(CarriedSession, AClientThatTheProxyTracksForNeedsTheFourthLayout) {
  CarriedSession session;
  session.id = 1;
  NearMode& mode = session.state.near_mode_;
  mode = {.is_on = true, .opts_in = true, .skips_own = true, .says_caching = true};
  const Result<CarriedSession> got = decode_session(encode(session));
  ASSERT_TRUE(got.ok());
  const NearMode& came = got->state.near_mode_;
  EXPECT_TRUE(came.is_on && came.opts_in && came.skips_own && came.says_caching);
  EXPECT_FALSE(came.opts_out);
  EXPECT_FALSE(decode_session(encode(session, 3))->state.near_mode_.is_on);
  mode.opts_out = true;
  EXPECT_FALSE(decode_session(encode(session)).ok());
  mode = {.is_on = false, .opts_in = true};
  EXPECT_FALSE(decode_session(encode(session)).ok());
  mode = {.is_on = true, .says_caching = true};
  EXPECT_FALSE(decode_session(encode(session)).ok());
}

// The proxy itself serves that channel, so no connection goes along.
TEST(CarriedSession, ASubscriberOfTheHotChannelNeedsTheThirdLayout) {
  CarriedSession session;
  session.id = 1;
  session.subscriptions.hears_hot = true;
  EXPECT_TRUE(decode_session(encode(session))->subscriptions.hears_hot);
  EXPECT_FALSE(decode_session(encode(session, 2))->subscriptions.hears_hot);
  EXPECT_EQ(CarriedSession::layout_for(1), 1U);
  EXPECT_EQ(CarriedSession::layout_for(2), 2U);
  EXPECT_EQ(CarriedSession::layout_for(3), 2U) << "programs before the third layout say so";
  EXPECT_EQ(CarriedSession::layout_for(4), 3U);
  EXPECT_EQ(CarriedSession::layout_for(5), 4U);
  EXPECT_EQ(CarriedSession::layout_for(9), 4U);
}

TEST(CarriedSession, WhatCannotBeTogetherIsRefused) {
  const auto refuses = [](auto change) {
    CarriedSession session = of_a_cluster();
    change(session);
    return !decode_session(encode(session)).ok();
  };
  using S = CarriedSession;
  EXPECT_TRUE(refuses([](S& session) { session.login->user = "bob"; }));
  EXPECT_TRUE(refuses([](S& session) { session.login.reset(); }));
  EXPECT_TRUE(refuses([](S& session) { session.state.in_multi_ = false; }));
  EXPECT_TRUE(refuses([](S& session) { session.transaction.queue.reset(); }));
  EXPECT_TRUE(refuses([](S& session) { session.listens = false; }));
  EXPECT_TRUE(refuses([](S& session) { session.nodes = handover::kNodesMax + 1; }));
  EXPECT_TRUE(refuses([](S& session) { session.transaction.queue->slot = 16384; }));
  EXPECT_TRUE(refuses([](S& session) { session.transaction.refusal = "why"; }));
  EXPECT_TRUE(refuses([](S& session) { session.login->password.assign(S::kLoginMax + 1, 'p'); }));
  EXPECT_FALSE(refuses([](S& /*session*/) {}));
}

TEST(CarriedSession, AShortenedOrLengthenedOneIsRefused) {
  for (const std::string& whole :
       {encode(sample()), encode(sample(), 1), encode(sample(), 2), encode(of_a_cluster())}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(decode_session(whole.substr(0, size)).ok()) << size;
    EXPECT_FALSE(decode_session(whole + "x").ok());
  }
}

TEST(CarriedSession, StateWithoutItsPrivateConnectionIsRefused) {
  CarriedSession session = sample();
  session.private_connection.reset();
  EXPECT_FALSE(decode_session(encode(session)).ok());
  session = CarriedSession();
  session.id = 1;
  EXPECT_TRUE(decode_session(encode(session)).ok());
  session.is_raw = true;
  EXPECT_FALSE(decode_session(encode(session)).ok());
}

TEST(CarriedSession, LimitsAreChecked) {
  CarriedSession session = sample();
  session.input.assign(CarriedSession::kInputMax + 1, 'x');
  EXPECT_FALSE(decode_session(encode(session)).ok());
  session = sample();
  session.state.name_ = "two words";
  EXPECT_FALSE(decode_session(encode(session)).ok());
  session = sample();
  session.state.db_ = UINT32_MAX;
  EXPECT_FALSE(decode_session(encode(session)).ok());
  session = sample();
  session.id = 0;
  EXPECT_FALSE(decode_session(encode(session)).ok());
}

TEST(CarriedSession, AnotherLayoutIsNamed) {
  std::string bytes = encode(sample());
  bytes[0] = 9;
  EXPECT_EQ(decode_session(bytes).error().message,
            "the session's layout is 9; this program reads layouts up to 4");
}

}  // namespace
}  // namespace heatsink::proxy
