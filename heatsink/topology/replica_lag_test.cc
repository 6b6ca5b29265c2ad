// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_lag.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/base/testing/times.h"

namespace heatsink::topology {
namespace {

class ReplicaLagTest : public testing::Test {
 protected:
  bool master(std::int64_t offset, int ms, const std::string& history = "h") {
    return master_.said(history, offset, at(ms));
  }
  ReplicationInfo info(std::int64_t offset, const std::string& history = "h") {
    ReplicationInfo out;
    out.role = Role::kReplica;
    out.history = history;
    out.offset = offset;
    out.is_linked = true;
    out.follows = "10.0.0.1:6379";
    return out;
  }
  void replica(std::int64_t offset, int ms) { master_.judge(info(offset), "p", at(ms), proof_); }
  void expect(ReplicaFault fault, TimePoint no_older_than) {
    EXPECT_STREQ(to_string(proof_.fault), to_string(fault));
    EXPECT_EQ(proof_.no_older_than, no_older_than);
  }

  MasterOffsets master_;
  ReplicaProof proof_;
};

TEST_F(ReplicaLagTest, NothingIsProvenAtTheStart) {
  expect(ReplicaFault::kSilent, TimePoint::min());
  replica(100, 0);
  expect(ReplicaFault::kOtherHistory, TimePoint::min());
}

TEST_F(ReplicaLagTest, AReachedOffsetProvesTheTimeOfItsQuestion) {
  master(100, 0);
  replica(99, 1);
  expect(ReplicaFault::kBehind, TimePoint::min());
  replica(100, 2);
  expect(ReplicaFault::kNone, at(0));
  master(200, 10);
  master(300, 20);
  replica(250, 21);
  expect(ReplicaFault::kNone, at(10));
  replica(300, 22);
  expect(ReplicaFault::kNone, at(20));
  EXPECT_EQ(proof_.heard_at, at(22));
}

TEST_F(ReplicaLagTest, AProofNamesTheMasterThatTheReplicaFollows) {
  master(100, 0);
  replica(100, 1);
  EXPECT_EQ(proof_.follows, "10.0.0.1:6379");
  ReplicationInfo other = info(100, "other");
  other.follows = "10.0.0.2:6379";
  master_.judge(other, "p", at(2), proof_);
  EXPECT_EQ(proof_.follows, "");
  replica(100, 3);
  EXPECT_EQ(proof_.follows, "10.0.0.1:6379");
  MasterOffsets::failed(proof_);
  EXPECT_EQ(proof_.follows, "");
}

// A replica that is cut off looks like this: its link is "up", and its offset stands still.
TEST_F(ReplicaLagTest, AStillReplicaAgesWhileTheMasterWrites) {
  master(100, 0);
  replica(100, 1);
  for (int ms = 10; ms < 5000; ms += 10) {
    master(100 + ms, ms);
    replica(100, ms + 1);
    EXPECT_EQ(proof_.no_older_than, at(0));
  }
  replica(5090, 5001);
  expect(ReplicaFault::kNone, at(4990));
}

TEST_F(ReplicaLagTest, AnIdleMasterIsAsFreshAsItsLastAnswer) {
  for (int ms = 0; ms < 1000; ms += 10) {
    master(100, ms);
    replica(100, ms + 1);
    expect(ReplicaFault::kNone, at(ms));
  }
}

TEST_F(ReplicaLagTest, FaultsEndWhatWasProven) {
  const auto prove = [&](int ms) {
    master(100, ms);
    replica(100, ms);
    expect(ReplicaFault::kNone, at(ms));
  };
  prove(10);
  ReplicationInfo broken = info(100);
  broken.is_linked = false;
  master_.judge(broken, "p", at(11), proof_);
  expect(ReplicaFault::kLinkDown, TimePoint::min());
  prove(20);
  broken.is_syncing = true;
  master_.judge(broken, "p", at(21), proof_);
  expect(ReplicaFault::kSyncing, TimePoint::min());
  prove(30);
  master_.judge(info(100, "other"), "p", at(31), proof_);
  expect(ReplicaFault::kOtherHistory, TimePoint::min());
  prove(40);
  broken = info(100);
  broken.role = Role::kMaster;
  master_.judge(broken, "p", at(41), proof_);
  expect(ReplicaFault::kNotReplica, TimePoint::min());
  prove(50);
  MasterOffsets::failed(proof_);
  expect(ReplicaFault::kSilent, TimePoint::min());
}

// It has loaded an old file, and its link is up again.
TEST_F(ReplicaLagTest, ARestartedReplicaProvesItselfAnew) {
  master(100, 0);
  replica(100, 1);
  master(200, 10);
  master_.judge(info(150), "other process", at(11), proof_);
  expect(ReplicaFault::kNone, at(0));
  proof_.no_older_than = at(9);
  master_.judge(info(150), "a third process", at(12), proof_);
  expect(ReplicaFault::kNone, at(0));
  master_.judge(info(200), "a third process", at(13), proof_);
  expect(ReplicaFault::kNone, at(10));
}

TEST_F(ReplicaLagTest, TheProcessIsKnownSinceItsFirstAnswer) {
  master(100, 0);
  replica(100, 1);
  replica(100, 2);
  EXPECT_EQ(proof_.process_since, at(1));
  MasterOffsets::failed(proof_);
  replica(100, 3);
  EXPECT_EQ(proof_.process_since, at(1)) << "only the connection was lost";
  master_.judge(info(100), "other process", at(4), proof_);
  EXPECT_EQ(proof_.process_since, at(4));
  master_.judge(info(100), "", at(5), proof_);
  expect(ReplicaFault::kNotReplica, TimePoint::min());
}

TEST_F(ReplicaLagTest, AnotherStreamProvesNothingOfTheOldOne) {
  EXPECT_TRUE(master(100, 0));
  EXPECT_FALSE(master(200, 1));
  EXPECT_TRUE(master(300, 2, "new"));
  replica(1000, 3);
  expect(ReplicaFault::kOtherHistory, TimePoint::min());
  EXPECT_TRUE(master(250, 4, "new")) << "it has lost writes";
  master_.judge(info(250, "new"), "p", at(5), proof_);
  expect(ReplicaFault::kNone, at(4));
  master_.forget();
  master_.judge(info(250, "new"), "p", at(6), proof_);
  expect(ReplicaFault::kOtherHistory, TimePoint::min());
}

TEST_F(ReplicaLagTest, LateAnswersChangeNothing) {
  master(100, 10);
  replica(100, 20);
  replica(50, 15);
  expect(ReplicaFault::kNone, at(10));
  master(100, 5);
  replica(100, 30);
  expect(ReplicaFault::kNone, at(10));
}

TEST_F(ReplicaLagTest, OldSamplesAreForgotten) {
  for (int i = 0; i <= static_cast<int>(MasterOffsets::kSamplesMax); ++i) master(100 + i, i);
  replica(100, 1000);
  expect(ReplicaFault::kBehind, TimePoint::min());
  replica(101, 1001);
  expect(ReplicaFault::kNone, at(1));
}

}  // namespace
}  // namespace heatsink::topology
