// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/copy_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/relief/copy_reader_for_test.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlayedGate final : public FillGate {
 public:
  bool is_on() const override { return true; }
  Outcome admit_fill(Request& /*request*/, std::span<const AskedKey> keys) override {
    asked_of += keys.size();
    return says;
  }

  Outcome says = Outcome::kPass;
  std::size_t asked_of = 0;
};

class CopyReadsTest : public ReliefTest {
 protected:
  void begin(std::initializer_list<const char*> rules = {}) {
    start(rules);
    reader_ = std::make_unique<CopyReader>(1, *parts, &gate_);
  }

  PlayedClient& client() { return reader_->client; }
  Outcome arrives(Request& request) {
    request.now = now;
    return reader_->reads.arrives(request);
  }

  // The tracker's answer to the latest fill.
  std::shared_ptr<copies::FillAnswer> value(std::string_view reply) const {
    const copies::FillRequest& asked = keeper.fills.back();
    auto answer = std::make_shared<copies::FillAnswer>();
    answer->which = asked.which;
    answer->key = asked.hash;
    answer->read = asked.read;
    answer->consistency = asked.consistency;
    answer->sent_at = now;
    answer->usable = true;
    answer->reply = reply;
    return answer;
  }
  void deliver(const std::shared_ptr<copies::FillAnswer>& answer) {
    for (const std::uint64_t id : copies->filled(*answer, now)) {
      for (CopyReader* each : {reader_.get(), other_.get()})
        if (each != nullptr && each->client.id() == id) each->reads.filled(answer);
    }
  }

  PlayedGate gate_;
  std::unique_ptr<CopyReader> reader_, other_;
};

TEST_F(CopyReadsTest, AHitIsServedAtOnce) {
  begin();
  heat("k");
  fill("k", "v");
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("gets $1|v|"));
  EXPECT_EQ(count(copies::Count::kLocalHits), 1U);
}

TEST_F(CopyReadsTest, AClientGetsTheFormOfItsProtocol) {
  begin();
  heat("k");
  fill_wire("k", "_\r\n", "$-1\r\n", {});
  arrives(request({"GET", "k"}));
  client().state.protocol_ = resp::Protocol::kResp3;
  arrives(request({"GET", "k"}));
  EXPECT_THAT(client().take(), ElementsAre("gets $-1|", "gets _|"));
}

TEST_F(CopyReadsTest, WhatHasNoCopyToBeHadIsPassedOn) {
  begin();
  heat("k");
  fill("k", "v");
  EXPECT_EQ(arrives(request({"GET", "cold"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"SET", "k", "v"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"GET", "k", "too", "many"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"FROBNICATE", "k"})), Outcome::kPass);
  EXPECT_THAT(client().take(), IsEmpty());
  EXPECT_THAT(keeper.fills, IsEmpty());
}

TEST_F(CopyReadsTest, AMissWaitsForTheOneFillThatAllShare) {
  begin();
  other_ = std::make_unique<CopyReader>(2, *parts);
  heat("k");
  Request& first = request({"GET", "k"});
  Request& second = request({"GET", "k"});
  EXPECT_EQ(arrives(first), Outcome::kWaits);
  EXPECT_EQ(other_->reads.arrives(second), Outcome::kWaits);
  ASSERT_EQ(keeper.fills.size(), 1U);
  EXPECT_EQ(count(copies::Count::kJoinedFills), 1U);
  now += Millis(1);
  deliver(value("$1\r\nv\r\n"));
  EXPECT_EQ(arrives(first), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("held", "let go", "gets $1|v|"));
  EXPECT_EQ(other_->reads.arrives(second), Outcome::kAnswered);
  EXPECT_THAT(other_->client.take(), ElementsAre("held", "let go", "gets $1|v|"));
}

TEST_F(CopyReadsTest, AFillThatFailedSendsTheReadToTheServer) {
  begin();
  heat("k");
  Request& read = request({"GET", "k"});
  arrives(read);
  const std::shared_ptr<copies::FillAnswer> answer = value("");
  answer->usable = false;
  deliver(answer);
  EXPECT_EQ(arrives(read), Outcome::kPass);
  EXPECT_NE(read.reply_of.value, 0U) << "the doorkeeper wants to hear how long the reply is";
}

TEST_F(CopyReadsTest, AnAnswerToAnotherReadIsNotGiven) {
  begin();
  heat("k");
  Request& read = request({"GET", "k"});
  arrives(read);
  const std::shared_ptr<copies::FillAnswer> answer = value("$1\r\nv\r\n");
  answer->key = hash("another");
  deliver(answer);
  EXPECT_EQ(arrives(read), Outcome::kPass);
  EXPECT_EQ(client().answer(), "");
}

TEST_F(CopyReadsTest, AnAnswerThatCameTooLateIsNotGiven) {
  begin({"match=k,max-staleness=200ms"});
  heat("k");
  Request& read = request({"GET", "k"});
  arrives(read);
  const std::shared_ptr<copies::FillAnswer> answer = value("$1\r\nv\r\n");
  answer->sent_at = now + Nanos(1);
  deliver(answer);
  now += Millis(201);
  EXPECT_EQ(arrives(read), Outcome::kPass);
}

TEST_F(CopyReadsTest, AValueThatHadEndedBeforeItWasAskedForIsAskedForAgain) {
  begin();
  heat("k");
  Request& read = request({"GET", "k"});
  const TimePoint wanted_at = now;
  arrives(read);
  now += Millis(1);
  const std::shared_ptr<copies::FillAnswer> answer = value("$3\r\nold\r\n");
  answer->value_ends = wanted_at;
  deliver(answer);
  EXPECT_EQ(arrives(read), Outcome::kWaits);
  ASSERT_EQ(keeper.fills.size(), 2U);
  EXPECT_GE(keeper.fills.back().fence, wanted_at);
  now += Millis(1);
  deliver(value("$3\r\nnew\r\n"));
  EXPECT_EQ(arrives(read), Outcome::kAnswered);
  EXPECT_EQ(client().answer(), "$3|new|");
}

TEST_F(CopyReadsTest, AnAnswerThatNoRequestWaitsForIsDropped) {
  begin();
  heat("k");
  reader_->reads.filled(std::make_shared<copies::FillAnswer>());
  EXPECT_THAT(client().take(), IsEmpty());
}

// A client sees its own writes.
TEST_F(CopyReadsTest, NoCopyIsServedBehindTheClientsOwnCommandsOnTheKey) {
  begin();
  heat("k");
  fill("k", "v");
  client().traffic.touch(name("k"));
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kPass);
  EXPECT_THAT(keeper.fills, IsEmpty());
  client().traffic.names.clear();
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
}

TEST_F(CopyReadsTest, NoCopyIsServedWhileTheWriteOfAnyClientIsInFlight) {
  begin();
  heat("k");
  fill("k", "v");
  shared->fences.write_begins(name("k"));
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kPass);
  EXPECT_EQ(count(copies::Count::kRefusedWriteInFlight), 1U);
  EXPECT_THAT(keeper.fills, IsEmpty());
}

TEST_F(CopyReadsTest, TheStateOfAConnectionMayAskForTheServer) {
  begin();
  heat("k");
  fill("k", "v");
  ClientState& state = client().state;
  const auto outcome = [&] { return arrives(request({"GET", "k"})); };
  state.in_multi_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  state.in_multi_ = false;
  state.watching_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  state.watching_ = false;
  state.no_local_reads_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  state.no_local_reads_ = false;
  state.user_ = ClientState::User::kUnauthenticated;
  EXPECT_EQ(outcome(), Outcome::kPass);
  state.user_ = ClientState::User::kShared;
  client().traffic.holds = 1;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client().traffic.holds = 0;
  state.subscribed_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  state.protocol_ = resp::Protocol::kResp3;
  EXPECT_EQ(outcome(), Outcome::kAnswered) << "there a subscriber may read";
}

TEST_F(CopyReadsTest, TheLimitsAreAskedBeforeTheTracker) {
  begin();
  heat("k");
  gate_.says = Outcome::kAnswered;
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
  EXPECT_EQ(gate_.asked_of, 1U);
  EXPECT_THAT(keeper.fills, IsEmpty());
}

TEST_F(CopyReadsTest, TheFillOfAnotherClientTakesNothingFromALimit) {
  begin();
  other_ = std::make_unique<CopyReader>(2, *parts);
  heat("k");
  other_->reads.arrives(request({"GET", "k"}));
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kWaits);
  EXPECT_EQ(gate_.asked_of, 0U);
}

// ---- level session

TEST_F(CopyReadsTest, AtLevelSessionAReadWaitsForAProofOfItsOwn) {
  begin({"match=k,level=session"});
  heat("k");
  fill("k", "v");
  now += Millis(10);
  client().traffic.note_reply_at(now);
  Request& read = request({"GET", "k"});
  EXPECT_EQ(arrives(read), Outcome::kWaits);
  ASSERT_EQ(keeper.barriers.size(), 1U);
  now += Millis(1);
  shared->proof.prove(now);
  reader_->barriers.passed(keeper.barriers.back().ticket);
  EXPECT_EQ(arrives(read), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("held", "let go", "gets $1|v|"));
}

TEST_F(CopyReadsTest, AtLevelSessionOneProofIsAwaitedAndNoSecond) {
  begin({"match=k,level=session"});
  heat("k");
  fill("k", "v");
  client().traffic.note_reply_at(now + Millis(10));
  Request& read = request({"GET", "k"});
  arrives(read);
  reader_->barriers.passed(keeper.barriers.back().ticket);
  EXPECT_EQ(arrives(read), Outcome::kPass);
  EXPECT_EQ(keeper.barriers.size(), 1U);
}

TEST_F(CopyReadsTest, AtLevelSessionNoProofIsAwaitedFromATrackerThatIsDown) {
  begin({"match=k,level=session"});
  heat("k");
  fill("k", "v");
  client().traffic.note_reply_at(now + Millis(10));
  shared->proof.set_up(false);
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kPass);
  EXPECT_THAT(keeper.barriers, IsEmpty());
}

TEST_F(CopyReadsTest, AtLevelSessionNoReadOvertakesWhatIsInFlight) {
  begin({"match=k,level=session"});
  heat("k");
  fill("k", "v");
  client().traffic.sent = 1;
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kPass);
  client().traffic.received = 1;
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
}

// ---- the server is unreachable

TEST_F(CopyReadsTest, ARuleMayPreferOldCopiesToErrors) {
  begin({"match=k,stale-while-error=1m"});
  heat("k");
  heat("other");
  fill("k", "v");
  fill("other", "v");
  shared->proof.set_up(false);
  now += std::chrono::seconds(5);
  EXPECT_EQ(arrives(request({"GET", "other"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
  EXPECT_EQ(count(copies::Count::kOutageHits), 1U);
  EXPECT_EQ(arrives(request({"MGET", "k", "other"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"MGET", "k", "k"})), Outcome::kAnswered);
  EXPECT_EQ(client().answer(), "*2|$1|v|$1|v|");
}

// ---- other users

TEST_F(CopyReadsTest, AnotherUserIsGivenWhatTheServerHasLetItRead) {
  begin();
  heat("k");
  fill("k", "v");
  client().state.user_ = ClientState::User::kOther;
  client().state.user_hash_ = 42;
  Request& unproven = request({"GET", "k"});
  EXPECT_EQ(arrives(unproven), Outcome::kPass);
  EXPECT_EQ(count(copies::Count::kRefusedRights), 1U);
  ASSERT_NE(unproven.asked_right, nullptr);
  permissions.record(*unproven.asked_right, true);
  now += Millis(100);
  shared->proof.prove(now);
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("gets $1|v|"));
  now += Millis(500);
  EXPECT_EQ(arrives(request({"GET", "k"})), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("renews", "gets $1|v|"));
}

// Only the server answers NOPERM: the read goes to it again after each refusal.
TEST_F(CopyReadsTest, AUserWhomTheServerHasRefusedAsksTheServer) {
  begin();
  heat("k");
  fill("k", "v");
  client().state.user_ = ClientState::User::kOther;
  Request& first = request({"GET", "k"});
  arrives(first);
  permissions.record(*first.asked_right, true);
  Request& second = request({"GET", "k"});
  ASSERT_EQ(arrives(second), Outcome::kAnswered);
  permissions.record(*first.asked_right, false);
  Request& third = request({"GET", "k"});
  EXPECT_EQ(arrives(third), Outcome::kPass);
  EXPECT_NE(third.asked_right, nullptr);
}

// ---- several keys

TEST_F(CopyReadsTest, SeveralKeysAreAnsweredTogether) {
  begin();
  for (const char* key : {"a", "b"}) {
    heat(key);
    fill(key, key);
  }
  EXPECT_EQ(arrives(request({"MGET", "b", "a"})), Outcome::kAnswered);
  EXPECT_THAT(client().take(), ElementsAre("gets *2|$1|b|$1|a|"));
}

TEST_F(CopyReadsTest, NumbersAreAddedUp) {
  begin();
  const copies::LocalRead* exists =
      copies::local_read_of(*resp::CommandTable::built_in().find_name("exists"));
  ASSERT_NE(exists, nullptr);
  for (const auto& [key, reply] : {std::pair{"a", ":1\r\n"}, std::pair{"b", ":0\r\n"}}) {
    heat(key);
    fill_wire(key, reply, "", {copies::read_of_each(*exists).number, {}});
  }
  EXPECT_EQ(arrives(request({"EXISTS", "a", "b", "a"})), Outcome::kAnswered);
  EXPECT_EQ(client().answer(), ":2|");
}

TEST_F(CopyReadsTest, OnlyWhatIsMissingIsAskedFor) {
  begin();
  for (const char* key : {"a", "b", "c"}) heat(key);
  fill("b", "b");
  Request& read = request({"MGET", "a", "b", "c"});
  EXPECT_EQ(arrives(read), Outcome::kWaits);
  ASSERT_EQ(keeper.fills.size(), 2U);
  EXPECT_EQ(keeper.fills[0].key, "a");
  EXPECT_EQ(keeper.fills[1].key, "c");
  EXPECT_EQ(gate_.asked_of, 2U);
  now += Millis(1);
  fill("a", "a");
  fill("c", "c");
  deliver(value("$1\r\nc\r\n"));
  EXPECT_EQ(arrives(read), Outcome::kAnswered);
  EXPECT_EQ(client().answer(), "*3|$1|a|$1|b|$1|c|");
}

TEST_F(CopyReadsTest, SeveralKeysAreWaitedForOnce) {
  begin();
  for (const char* key : {"a", "b"}) heat(key);
  Request& read = request({"MGET", "a", "b"});
  arrives(read);
  now += Millis(1);
  deliver(value("$1\r\nb\r\n"));  // the proxy keeps nothing of "a"
  EXPECT_EQ(arrives(read), Outcome::kPass);
}

TEST_F(CopyReadsTest, OneColdKeySendsAllToTheServer) {
  begin();
  heat("a");
  fill("a", "a");
  EXPECT_EQ(arrives(request({"MGET", "a", "cold"})), Outcome::kPass);
  EXPECT_THAT(keeper.fills, IsEmpty());
}

// Only the server answers CROSSSLOT.
TEST_F(CopyReadsTest, ANodeOfAClusterIsAskedAboutKeysOfSeveralSlots) {
  begin();
  shared->is_cluster_node = true;
  for (const char* key : {"a", "b", "{a}2"}) {
    heat(key);
    fill(key, "v");
  }
  EXPECT_EQ(arrives(request({"MGET", "a", "b"})), Outcome::kPass);
  EXPECT_EQ(arrives(request({"MGET", "a", "{a}2"})), Outcome::kAnswered);
}

}  // namespace
}  // namespace heatsink::proxy
