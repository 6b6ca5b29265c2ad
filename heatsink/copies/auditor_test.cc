// SPDX-License-Identifier: Apache-2.0
// The auditor with a real reader connection. The test plays the server and the clock.
#include "heatsink/copies/auditor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/writer.h"

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr MetricRow kStalenessRow{"heatsink_staleness_seconds", MetricKind::kHistogram,
                                  "How stale."};
constexpr std::string_view kNoSuchKey = "$0\r\n\r\n:-2\r\n";

policy::ProxyOptions auditor_options() {
  policy::ProxyOptions options;
  options.maximum_value_bytes = Bytes{100};
  return options;
}

// "k" is hot in database 0 and "h", a hash, in database 1. Max-staleness is 1 s. The tracker proves
// itself whenever the test says so.
class AuditorTest : public testing::Test, private Auditor::Listener {
 protected:
  AuditorTest() {
    auditor_.use(reader_);
    shared_.table.promote("k", 0, in_db(kK, 0), kK, TimePoint{});
    shared_.table.promote("h", 1, in_db(kH, 1), kH, TimePoint{});
    shared_.proof.begin_generation();
    shared_.proof.set_up(true);
    prove(0);
    reader_.connected(at(0));
    hear("%0\r\n:0\r\n", 0);
    sent();
  }

  static redis::TrackerOptions reader_options() {
    redis::TrackerOptions options;
    options.tracking = false;
    options.value_bytes_max = 100;
    return options;
  }

  void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint) override {
    told_.push_back(hit.key + " " + std::to_string(for_at_least.count()));
  }

  static cache::StoredRead read_of(std::string_view command,
                                   const std::vector<std::string_view>& arguments = {}) {
    const resp::Command* known = resp::CommandTable::built_in().find_name(command);
    return cache::StoredRead(cache::Read{local_read_of(*known)->number, arguments});
  }

  // A copy from a fill sent at `ms`, valid for 10 s.
  void fill(int ms, const std::string& reply, const cache::StoredRead& read = {},
            KeyHash key = in_db(kK, 0)) {
    auto copy = std::make_unique<cache::Copy>();
    copy->generation = shared_.proof.generation();
    copy->fill_sent_at = at(ms);
    copy->deadline = at(ms + 10'000);
    copy->read = read;
    copy->reply = reply;
    copy_ = copy.get();
    ASSERT_TRUE(shared_.table.insert(key, std::move(copy)));
  }
  void prove(int ms) { shared_.proof.prove(at(ms)); }
  void invalidate() { shared_.table.drop_name("k", kK); }

  // A hit in the latest copy.
  void hit(int ms, KeyHash key = in_db(kK, 0)) {
    auditor_.check(AuditedHit(*shared_.table.entry(key), *copy_), at(ms));
  }
  void hear(std::string_view bytes, int ms) { EXPECT_TRUE(reader_.received(bytes, at(ms)).ok()); }
  void server_says(std::string_view value, int ms) {
    ByteBuffer wire;
    resp::append_bulk(wire, value);
    hear(wire.view(), ms);
    hear(":-1\r\n", ms);
  }
  // Looks as often as the keeper does, with fresh proofs.
  void look_until(int ms, int from) {
    for (int now = from; now <= ms; now += 10) {
      prove(now);
      auditor_.look(at(now));
    }
  }
  std::string sent() {
    std::string out(reader_.output().view());
    reader_.output().clear();
    return out;
  }
  std::uint64_t count(Count what) const { return counters_.read(what); }
  // The number of suspects, and for how many seconds they could be served in total.
  std::pair<std::uint64_t, double> staleness() const {
    const MetricSample sample = auditor_.staleness().sample(kStalenessRow);
    return {sample.buckets.back().count, sample.value};
  }

  static inline const NameHash kK = hash_name("k", 1);
  static inline const NameHash kH = hash_name("h", 1);
  static inline const std::string kV1 = "$2\r\nv1\r\n";
  NodeState shared_{auditor_options(), {}, 1};
  Counters counters_;
  Auditor auditor_{shared_, counters_, *this};
  redis::Tracker reader_{reader_options(), auditor_};
  const cache::Copy* copy_ = nullptr;
  std::vector<std::string> told_;
};

// ---- questions to the server

TEST_F(AuditorTest, AsksAsAFillDoes) {
  fill(0, kV1);
  hit(10);
  EXPECT_EQ(sent(),
            "*4\r\n$8\r\nGETRANGE\r\n$1\r\nk\r\n$1\r\n0\r\n$3\r\n100\r\n"
            "*2\r\n$4\r\nPTTL\r\n$1\r\nk\r\n");
}

TEST_F(AuditorTest, AsksTheSameReadInTheSameDatabase) {
  fill(0, "$1\r\n1\r\n", read_of("hget", {"f"}), in_db(kH, 1));
  hit(10, in_db(kH, 1));
  const std::string asked = sent();
  EXPECT_THAT(asked, HasSubstr("$6\r\nSELECT\r\n$1\r\n1\r\n"));
  EXPECT_THAT(asked, HasSubstr("$4\r\nhget\r\n$1\r\nh\r\n$1\r\nf\r\n"));
}

// ---- matching answers

TEST_F(AuditorTest, TheSameValueIsFine) {
  fill(0, kV1);
  hit(10);
  server_says("v1", 11);
  EXPECT_EQ(count(Count::kAudited), 1u);
  EXPECT_EQ(count(Count::kAuditsSuspected), 0u);
  EXPECT_FALSE(auditor_.watches());
}

TEST_F(AuditorTest, AMissingKeyIsAValue) {
  fill(0, "_\r\n");
  hit(10);
  hear(kNoSuchKey, 11);
  EXPECT_EQ(count(Count::kAuditsSuspected), 0u);
  hit(20);
  server_says("", 21);
  EXPECT_EQ(count(Count::kAuditsSuspected), 1u);
}

TEST_F(AuditorTest, ASetMayComeInAnotherOrder) {
  fill(0, "~2\r\n$1\r\na\r\n$1\r\nb\r\n", read_of("smembers"));
  hit(10);
  hear(":-1\r\n~2\r\n$1\r\nb\r\n$1\r\na\r\n", 11);
  EXPECT_EQ(count(Count::kAudited), 1u);
  EXPECT_EQ(count(Count::kAuditsSuspected), 0u);
  fill(20, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", read_of("lrange", {"0", "-1"}));
  hit(30);
  hear(":-1\r\n*2\r\n$1\r\nb\r\n$1\r\na\r\n", 31);
  EXPECT_EQ(count(Count::kAuditsSuspected), 1u);
}

// ---- writes between the hit and the audit are no stale reads

class Written : public AuditorTest {
 protected:
  // Served at 10 ms; at 12 ms the server answers another value.
  Written() {
    fill(0, kV1);
    hit(10);
  }
  void nothing_is_told_until(int ms) {
    look_until(ms, 20);
    EXPECT_THAT(told_, IsEmpty());
    EXPECT_FALSE(auditor_.watches());
    EXPECT_EQ(count(Count::kAuditsSuspected), 1u);
    EXPECT_EQ(count(Count::kAuditsStale), 0u);
  }
};

TEST_F(Written, AndToldBeforeTheAnswer) {
  invalidate();
  server_says("v2", 12);
  EXPECT_FALSE(auditor_.watches());
  EXPECT_EQ(staleness(), std::make_pair(std::uint64_t{1}, 0.0));
  nothing_is_told_until(3000);
}

TEST_F(Written, AndToldSoonAfterTheAnswer) {
  server_says("v2", 12);
  EXPECT_TRUE(auditor_.watches());
  look_until(50, 20);
  invalidate();
  nothing_is_told_until(3000);
  EXPECT_EQ(staleness(), std::make_pair(std::uint64_t{1}, 0.038));  // 12 .. 50 ms
}

// The old value may come back, but in another copy.
TEST_F(Written, AndFilledAgainWithTheOldValue) {
  server_says("v2", 12);
  invalidate();
  fill(15, kV1);
  nothing_is_told_until(3000);
}

TEST_F(Written, AndAgainAndAgain) {
  server_says("v2", 12);
  for (int ms = 20; ms < 3000; ms += 10) {
    invalidate();
    fill(ms, ms % 20 == 0 ? kV1 : "$2\r\nv2\r\n");
    prove(ms);
    auditor_.look(at(ms));
  }
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(count(Count::kAuditsStale), 0u);
}

// The tracker is cut off: its copies may be served for max-staleness without invalidations, and
// then the rule refuses them.
TEST_F(Written, AndTheTrackerIsCutOff) {
  prove(11);
  server_says("v2", 12);
  for (int ms = 20; ms < 3000; ms += 10) auditor_.look(at(ms));
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_FALSE(auditor_.watches());
  EXPECT_NEAR(staleness().second, 0.998, 1e-9);  // last look at 1010 ms, proven at 11 ms
}

TEST_F(Written, AndTheGenerationEnds) {
  server_says("v2", 12);
  shared_.proof.begin_generation();
  nothing_is_told_until(3000);
}

TEST_F(Written, AndTheKeyIsHotNoLonger) {
  server_says("v2", 12);
  shared_.table.demote(in_db(kK, 0));
  nothing_is_told_until(3000);
}

TEST_F(Written, ThroughThisProxy) {
  server_says("v2", 12);
  shared_.fences.raise(kK, at(13));
  nothing_is_told_until(3000);
}

TEST_F(Written, TooBigToBeCached) {
  invalidate();
  server_says(std::string(101, 'x'), 12);
  nothing_is_told_until(3000);
}

// The local deadline ends the copy first, without the server.
TEST_F(AuditorTest, ACopyThatHasExpiredIsNotStale) {
  fill(-9'500, kV1);
  hit(10);
  hear(kNoSuchKey, 12);
  look_until(3000, 20);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_NEAR(staleness().second, 0.478, 1e-9);  // last look at 490 ms
}

// ---- stale reads

class Stale : public AuditorTest {
 protected:
  // No invalidation of the write arrives, although heartbeats do.
  Stale() {
    fill(0, kV1);
    hit(10);
    server_says("v2", 12);
  }
};

TEST_F(Stale, IsToldOnceItIsPastTheBound) {
  look_until(1010, 20);
  prove(1012);
  auditor_.look(at(1012));
  EXPECT_THAT(told_, IsEmpty());
  auditor_.look(at(1012) + Nanos(1));
  EXPECT_THAT(told_, ElementsAre("k 1000000001"));
  EXPECT_EQ(count(Count::kAuditsStale), 1u);
}

TEST_F(Stale, IsToldOnceAndMeasuredToItsEnd) {
  look_until(3000, 20);
  EXPECT_EQ(told_.size(), 1u);
  invalidate();
  auditor_.look(at(3010));
  EXPECT_EQ(staleness(), std::make_pair(std::uint64_t{1}, 2.988));
  EXPECT_FALSE(auditor_.watches());
}

TEST_F(Stale, UntilTheCopyEndsByItself) {
  look_until(11'000, 20);
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_FALSE(auditor_.watches());
  EXPECT_NEAR(staleness().second, 9.978, 1e-9);  // last look at 9990 ms
}

// ---- a node of a cluster

class OfACluster : public AuditorTest {
 protected:
  static constexpr cache::ProofIndex kNode = 2;

  // The copy is of one node, which has another value at 12 ms.
  OfACluster() {
    cache::ProofState& node = shared_.proofs[kNode];
    node.begin_generation();
    node.set_up(true);
    prove_node(0);
    auto copy = std::make_unique<cache::Copy>();
    copy->generation = node.generation();
    copy->proof = kNode;
    copy->fill_sent_at = at(0);
    copy->deadline = at(10'000);
    copy->reply = kV1;
    copy_ = copy.get();
    EXPECT_TRUE(shared_.table.insert(in_db(kK, 0), std::move(copy)));
    hit(10);
  }
  void prove_node(int ms) { shared_.proofs[kNode].prove(at(ms)); }
};

TEST_F(OfACluster, TheCopyIsStaleWhileItsNodeProvesIt) {
  server_says("v2", 12);
  for (int ms = 20; ms < 3000; ms += 10) {
    prove_node(ms);
    auditor_.look(at(ms));
  }
  EXPECT_THAT(told_, ElementsAre("k 1008000000"));
}

TEST_F(OfACluster, WhatOtherNodesProveDoesNotCount) {
  server_says("v2", 12);
  look_until(3000, 20);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_FALSE(auditor_.watches());
}

TEST_F(OfACluster, TheMapHasAnotherOwner) {
  server_says("v2", 12);
  shared_.table.drop_name("k", kK);
  for (int ms = 20; ms < 3000; ms += 10) {
    prove_node(ms);
    auditor_.look(at(ms));
  }
  EXPECT_THAT(told_, IsEmpty());
}

// A slot that is elsewhere, or being moved, says nothing about the value.
TEST_F(OfACluster, ANodeThatDoesNotOwnTheSlotSaysNothing) {
  for (const std::string_view refusal :
       {"MOVED 12706 10.0.0.1:6379", "ASK 12706 10.0.0.1:6379", "TRYAGAIN Multiple keys"}) {
    const std::string line = "-" + std::string(refusal) + "\r\n";
    hear(line + line, 12);
    hit(13);
  }
  EXPECT_EQ(count(Count::kAuditsFailed), 3u);
  EXPECT_EQ(count(Count::kAudited), 0u);
  EXPECT_FALSE(auditor_.watches());
}

// ---- bounds and failures

TEST_F(AuditorTest, AnswersThatSayNothingAreFailures) {
  fill(0, kV1);
  hit(10);
  hear("-NOPERM no\r\n-NOPERM no\r\n", 11);
  hit(20);
  reader_.disconnected("lost");
  EXPECT_EQ(count(Count::kAuditsFailed), 2u);
  EXPECT_EQ(count(Count::kAudited), 0u);
}

TEST_F(AuditorTest, PausesWhileTheServerIsAway) {
  fill(0, kV1);
  reader_.disconnected("lost");
  hit(10);
  EXPECT_EQ(count(Count::kAuditsDroppedDown), 1u);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(AuditorTest, AsksNoMoreThanSoManyAtOnce) {
  fill(0, kV1);
  for (std::size_t i = 0; i < Auditor::kQuestionsMax + 3; ++i) hit(10);
  EXPECT_EQ(count(Count::kAuditsDroppedFull), 3u);
  for (std::size_t i = 0; i < Auditor::kQuestionsMax; ++i) server_says("v1", 11);
  EXPECT_EQ(count(Count::kAudited), Auditor::kQuestionsMax);
  hit(20);
  EXPECT_EQ(count(Count::kAuditsDroppedFull), 3u);
}

TEST_F(AuditorTest, WatchesNoMoreThanSoManyAtOnce) {
  fill(0, kV1);
  for (std::size_t i = 0; i < Auditor::kSuspectsMax + 2; ++i) {
    hit(10);
    server_says("v2", 11);
  }
  EXPECT_EQ(count(Count::kAuditsSuspected), Auditor::kSuspectsMax + 2);
  EXPECT_EQ(count(Count::kAuditsDroppedFull), 2u);
}

}  // namespace
}  // namespace heatsink::copies
