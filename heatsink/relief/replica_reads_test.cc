// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/replica_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using copies::Count;
using testing::ElementsAre;
using testing::IsEmpty;

// The connections to replicas and to the master.
class PlayedReplicas final : public ReplicaCarrier {
 public:
  Sent send(const ReplicaRead& read, std::string_view request, Pending&& pending,
            Count& why) override {
    reads.push_back(read);
    if (answer == Sent::kToReplica) {
      requests.emplace_back(request);
      pendings.push_back(std::move(pending));
    }
    why = refusal;
    return answer;
  }
  bool send_to_master(const ReplicaRead& /*read*/, std::string_view request,
                      Pending& pending) override {
    if (!is_master_ready) return false;
    at_master.emplace_back(request);
    master_pendings.push_back(std::move(pending));
    return true;
  }

  void ask_master(std::uint32_t /*number*/, ReplyQueue::Ticket ticket, Reader& reader) override {
    if (!says_master) return held.push_back({ticket, &reader});
    reader.replica_follows(ticket, true);
  }
  void say_master(bool same) {
    for (const auto& [ticket, reader] : std::exchange(held, {}))
      reader->replica_follows(ticket, same);
  }

  Sent answer = Sent::kToReplica;
  bool says_master = true;  // at once
  std::vector<std::pair<ReplyQueue::Ticket, Reader*>> held;
  Count refusal = Count::kReplicaBehind;
  bool is_master_ready = true;
  std::vector<ReplicaRead> reads;  // asked for
  std::vector<std::string> requests, at_master;
  std::vector<Pending> pendings, master_pendings;
};

class ReplicaReadsTest : public ReliefTest {
 protected:
  void begin() {
    start({"match=hot:*,level=off,reads=replicas,replica-lag=500ms",
           "match=all:*,level=ttl,reads=all,replica-lag=2s", "match=key:*"});
    parts->replicas = &replicas;
    shared->hot_keys.assign({hash("hot:1"), hash("hot:2"), hash("all:1"), hash("key:1")});
    relief = std::make_unique<ReplicaReads>(*parts, client.context);
  }
  Outcome sends(std::initializer_list<std::string_view> words) {
    Request& made = request(words);
    made.now = now;
    const Outcome outcome = relief->arrives(made);
    return outcome == Outcome::kPass ? relief->departs(made) : outcome;
  }
  bool goes_to_replica(std::initializer_list<std::string_view> words) {
    const std::size_t before = replicas.requests.size();
    const Outcome outcome = sends(words);
    EXPECT_EQ(outcome == Outcome::kAnswered, replicas.requests.size() > before);
    return outcome == Outcome::kAnswered;
  }
  void answer(std::size_t which, std::string_view reply, bool ok = true) {
    Pending& pending = replicas.pendings[which];
    pending.session->take_reply(pending.ticket, reply.substr(0, 2));
    pending.session->take_reply(pending.ticket, reply.substr(2));
    pending.session->reply_done(pending, ok, {}, {});
  }
  void lose(std::size_t which, std::string_view part = "") {
    Pending& pending = replicas.pendings[which];
    if (!part.empty()) pending.session->take_reply(pending.ticket, part);
    pending.session->reply_lost(pending, !part.empty(), "gone");
  }

  PlayedClient client{5};
  PlayedReplicas replicas;
  std::unique_ptr<ReplicaReads> relief;
};

TEST_F(ReplicaReadsTest, ReadsOfHotKeysGoToReplicas) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_THAT(client.take(), ElementsAre("sent 1"));
  EXPECT_EQ(replicas.reads.back().lag, Millis(500));
  EXPECT_EQ(replicas.reads.back().now, now);
  EXPECT_FALSE(replicas.reads.back().may_be_master);
  answer(0, "$1\r\nv\r\n");
  EXPECT_THAT(client.take(), ElementsAre("gets 1 $1|v|", "done 1"));
  EXPECT_EQ(count(Count::kReplicaReads), 1U);
  EXPECT_TRUE(goes_to_replica({"ZRANGE", "all:1", "0", "-1"}));
  EXPECT_TRUE(replicas.reads.back().may_be_master);
}

TEST_F(ReplicaReadsTest, EverythingElseGoesToTheMaster) {
  begin();
  EXPECT_FALSE(goes_to_replica({"GET", "hot:cold"}));
  EXPECT_FALSE(goes_to_replica({"GET", "key:1"})) << "its rule says nothing";
  EXPECT_FALSE(goes_to_replica({"SET", "hot:1", "v"}));
  EXPECT_FALSE(goes_to_replica({"GETDEL", "hot:1"}));
  EXPECT_FALSE(goes_to_replica({"PFCOUNT", "hot:1"})) << "it may write";
  EXPECT_FALSE(goes_to_replica({"EVAL_RO", "return 1", "1", "hot:1"}));
  EXPECT_FALSE(goes_to_replica({"XREAD", "STREAMS", "hot:1", "0"}));
  EXPECT_FALSE(goes_to_replica({"GET"}));
  EXPECT_FALSE(goes_to_replica({"DBSIZE"}));
  EXPECT_FALSE(goes_to_replica({"NOSUCH", "hot:1"}));
  EXPECT_FALSE(goes_to_replica({"MGET", "hot:1", "hot:cold"}));
  EXPECT_THAT(replicas.reads, IsEmpty());
  EXPECT_TRUE(goes_to_replica({"MGET", "all:1", "hot:1"}));
  EXPECT_EQ(replicas.reads.back().lag, Millis(500)) << "the shortest";
  EXPECT_FALSE(replicas.reads.back().may_be_master);
}

TEST_F(ReplicaReadsTest, AClientWithStateReadsFromTheMaster) {
  begin();
  const auto refuses = [&](bool& flag) {
    flag = true;
    EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
    flag = false;
    EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  };
  refuses(client.state.in_multi_);
  refuses(client.state.watching_);
  refuses(client.state.no_local_reads_);
  refuses(client.is_silent);
  client.is_sharing = false;
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  client.is_sharing = true;
  client.state.user_ = ClientState::User::kOther;
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  client.state.user_ = ClientState::User::kShared;
  client.known_bytes = options.stream_threshold.count + 1;
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
}

TEST_F(ReplicaReadsTest, AReadFollowsTheClientsOwnWrites) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(replicas.reads.back().since, TimePoint{});
  client.effect = {3, true};
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(count(Count::kReplicaOwnWrite), 1U);
  client.effect.is_unanswered = false;
  client.traffic.last_reply_at = now += Millis(1);
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(replicas.reads.back().since, now);
  const TimePoint written = now;
  client.traffic.last_reply_at = now += Millis(1);  // of a read
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(replicas.reads.back().since, written);
}

TEST_F(ReplicaReadsTest, ASessionThatCameFromElsewhereMayHaveWritten) {
  begin();
  client.traffic.last_reply_at = now;
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(replicas.reads.back().since, now);
}

TEST_F(ReplicaReadsTest, WritesWaitForReadsAtReplicas) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  EXPECT_EQ(sends({"SET", "other", "v"}), Outcome::kWaits);
  EXPECT_THAT(client.take(), ElementsAre("drains"));
  EXPECT_EQ(sends({"EVAL", "return 1", "0"}), Outcome::kWaits);
  EXPECT_EQ(sends({"NOSUCH"}), Outcome::kWaits);
  EXPECT_EQ(sends({"GET", "other"}), Outcome::kPass);
  EXPECT_EQ(sends({"PING"}), Outcome::kPass);
  answer(0, "$1\r\nv\r\n");
  EXPECT_EQ(sends({"SET", "other", "v"}), Outcome::kPass);
}

TEST_F(ReplicaReadsTest, WhatAReplicaDoesNotAnswerTheMasterDoes) {
  begin();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  answer(1, "-LOADING Redis is loading\r\n", false);
  lose(0, "$1\r\n");
  lose(2);
  EXPECT_THAT(client.take(), IsEmpty()) << "the client sees nothing of it";
  ASSERT_EQ(replicas.at_master.size(), 3U);
  EXPECT_EQ(replicas.at_master[0], "*2\r\n$3\r\nGET\r\n$5\r\nhot:1\r\n");
  EXPECT_EQ(replicas.master_pendings[0].ticket, 2U);
  EXPECT_EQ(replicas.master_pendings[1].ticket, 1U);
  EXPECT_EQ(replicas.master_pendings[0].session, &static_cast<Requester&>(client));
  EXPECT_TRUE(replicas.master_pendings[0].read_only);
  EXPECT_EQ(replicas.master_pendings[0].keys.size(), 1U);
  EXPECT_EQ(count(Count::kReplicaReadsRepeated), 3U);
}

TEST_F(ReplicaReadsTest, AReplyWaitsUntilTheReplicaHasNamedItsMaster) {
  begin();
  replicas.says_master = false;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  answer(0, "$1\r\nv\r\n");
  answer(1, "$1\r\nw\r\n");
  EXPECT_THAT(client.take(), IsEmpty());
  EXPECT_EQ(sends({"SET", "other", "v"}), Outcome::kWaits) << "a repeated read would see it";
  client.take();
  replicas.say_master(true);
  EXPECT_THAT(client.take(), ElementsAre("gets 1 $1|v|", "done 1", "gets 2 $1|w|", "done 2"));
  EXPECT_EQ(count(Count::kReplicaReads), 2U);
}

TEST_F(ReplicaReadsTest, WhatAReplicaOfAnotherMasterSaidTheMasterSaysAgain) {
  begin();
  replicas.says_master = false;
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  answer(0, "$1\r\nx\r\n");
  replicas.say_master(false);
  EXPECT_THAT(client.take(), IsEmpty()) << "the client does not see that value";
  ASSERT_EQ(replicas.at_master.size(), 1U);
  EXPECT_EQ(replicas.master_pendings[0].ticket, 1U);
  EXPECT_EQ(count(Count::kReplicaReads), 0U);
  EXPECT_EQ(count(Count::kReplicaReadsRepeated), 1U);
}

TEST_F(ReplicaReadsTest, WithoutAConnectionToTheMasterTheSessionAsksAgain) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  replicas.is_master_ready = false;
  lose(0);
  EXPECT_THAT(client.take(), ElementsAre("again 1 *2|$3|GET|$5|hot:1|", "done 0"));
}

TEST_F(ReplicaReadsTest, AClientThatHasLeftIsNotAnswered) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  client.is_closed = true;
  lose(0);
  EXPECT_THAT(client.take(), ElementsAre("done 0"));
  EXPECT_THAT(replicas.at_master, IsEmpty());
}

TEST_F(ReplicaReadsTest, RepliesTooBigToShareComeFromTheMaster) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  Pending& pending = replicas.pendings[0];
  pending.session->ask_again("GET hot:1", pending);
  pending.ticket = ReplyQueue::kNone;  // as the connection does
  EXPECT_THAT(client.take(), ElementsAre("again 1 GET hot:1"));
  pending.session->reply_done(pending, true, {}, {});
  EXPECT_THAT(client.take(), ElementsAre("done 0"));
}

TEST_F(ReplicaReadsTest, TheReasonOfAFallbackIsCounted) {
  begin();
  replicas.answer = ReplicaCarrier::Sent::kNot;
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_EQ(count(Count::kReplicaBehind), 1U);
  replicas.answer = ReplicaCarrier::Sent::kMastersTurn;
  EXPECT_FALSE(goes_to_replica({"GET", "all:1"}));
  EXPECT_EQ(count(Count::kReplicaBehind), 1U);
  EXPECT_THAT(client.take(), IsEmpty());
}

TEST_F(ReplicaReadsTest, ReadsInFlightAreBounded) {
  begin();
  client.known_bytes = 10;
  for (int i = 0; i < 256; ++i) EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  answer(0, "$1\r\nv\r\n");
  EXPECT_FALSE(goes_to_replica({"HGET", "hot:1", std::string(20'000, 'f')}));
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
}

TEST_F(ReplicaReadsTest, TheirRepliesAreBounded) {
  begin();
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(goes_to_replica({"GET", "hot:1"})) << "8 KiB each";
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
  for (std::size_t i = 0; i < 128; ++i) answer(i, "$1\r\nv\r\n");
  client.known_bytes = 700'000;
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
}

TEST_F(ReplicaReadsTest, WhatReadsInFlightKeepIsCountedAndFreed) {
  begin();
  EXPECT_EQ(relief->kept_bytes(), 0U);
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  const std::size_t with_request = relief->kept_bytes();
  EXPECT_GT(with_request, replicas.requests[0].size());
  Pending& pending = replicas.pendings[0];
  pending.session->take_reply(pending.ticket, "$1000\r\n" + std::string(500, 'v'));
  EXPECT_EQ(relief->kept_bytes(), with_request + 507);
  relief->shrink();
  EXPECT_EQ(relief->kept_bytes(), with_request + 507) << "it is in flight";
  lose(0);
  EXPECT_LT(relief->kept_bytes(), with_request);
  relief->shrink();
  EXPECT_EQ(relief->kept_bytes(), 0U);
}

TEST_F(ReplicaReadsTest, InAClusterOnlyWhatAMissingKeyCannotSayIsBelieved) {
  begin();
  topology::AnnouncedShard all;
  all.master = {"10.0.0.1", 6379};
  all.slots = {{0, resp::kSlots - 1}};
  ASSERT_TRUE(shared->cluster.publish({all}, all.master, 1).is_new);
  EXPECT_FALSE(goes_to_replica({"MGET", "hot:1", "hot:2"})) << "some keys may have left";
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  answer(0, "$-1\r\n");
  EXPECT_THAT(client.take(), IsEmpty());
  EXPECT_EQ(replicas.at_master.size(), 1U);
  answer(1, "$1\r\nv\r\n");
  EXPECT_THAT(client.take(), ElementsAre("gets 2 $1|v|", "done 2"));
}

TEST_F(ReplicaReadsTest, OneServerSaysWhatIsMissing) {
  begin();
  EXPECT_TRUE(goes_to_replica({"GET", "hot:1"}));
  client.take();
  answer(0, "$-1\r\n");
  EXPECT_THAT(client.take(), ElementsAre("gets 1 $-1|", "done 1"));
}

TEST_F(ReplicaReadsTest, WithoutSuchARuleNothingIsLookedAt) {
  start({"match=hot:*"});
  parts->replicas = &replicas;
  shared->hot_keys.assign({hash("hot:1")});
  relief = std::make_unique<ReplicaReads>(*parts, client.context);
  EXPECT_FALSE(relief->is_on());
  EXPECT_FALSE(relief->wants(hash("hot:1")));
  EXPECT_FALSE(goes_to_replica({"GET", "hot:1"}));
}

}  // namespace
}  // namespace heatsink::proxy
