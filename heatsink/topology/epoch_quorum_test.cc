// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/epoch_quorum.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

TimePoint at(int ms) { return TimePoint(std::chrono::seconds(100)) + Millis(ms); }

class EpochQuorumTest : public testing::Test {
 protected:
  EpochQuorumTest() { quorum_.follow({0, 1, 2}, 5, true); }
  bool heard(NodeIndex master, std::uint64_t epoch, int ms) {
    return quorum_.heard(master, epoch, at(ms), at(ms + 1));
  }
  EpochQuorum quorum_{Millis(1000)};
};

TEST_F(EpochQuorumTest, AMajorityHasToAnswer) {
  EXPECT_FALSE(heard(0, 5, 10));
  EXPECT_EQ(quorum_.agreed_at(), TimePoint{});
  heard(1, 5, 20);
  EXPECT_EQ(quorum_.agreed_at(), at(10));
  heard(2, 5, 30);
  EXPECT_EQ(quorum_.agreed_at(), at(20));
  heard(2, 5, 40);
  EXPECT_EQ(quorum_.agreed_at(), at(20));
}

TEST_F(EpochQuorumTest, AVoterStopsTheClockUntilTheMapShowsTheNewMaster) {
  for (NodeIndex master = 0; master < 3; ++master) heard(master, 5, 10);
  EXPECT_TRUE(heard(1, 6, 20));
  EXPECT_TRUE(heard(2, 6, 20));
  heard(0, 5, 500);  // the old master, cut off
  EXPECT_EQ(quorum_.agreed_at(), at(10));
  quorum_.follow({3, 1, 2}, 6, true);
  EXPECT_FALSE(heard(1, 6, 600));
  EXPECT_FALSE(heard(2, 6, 600));
  EXPECT_EQ(quorum_.agreed_at(), at(600));
}

TEST_F(EpochQuorumTest, AMapWithTheOldOwnersDoesNotEndAnElection) {
  for (NodeIndex master = 0; master < 3; ++master) heard(master, 5, 10);
  heard(1, 6, 20);
  heard(2, 6, 20);
  quorum_.follow({0, 1, 2}, 6, false);
  EXPECT_TRUE(heard(1, 6, 1900));
  EXPECT_TRUE(heard(2, 6, 1900));
  EXPECT_EQ(quorum_.agreed_at(), at(10));
  EXPECT_FALSE(heard(1, 6, 2100));  // twice the node time-out
  EXPECT_FALSE(heard(2, 6, 2100));
  EXPECT_EQ(quorum_.agreed_at(), at(2100));
}

// Long after an earlier election.
TEST_F(EpochQuorumTest, AnElectionThatTheMapShowsFirstTakesItsTimeToo) {
  heard(1, 6, 20);
  quorum_.follow({0, 1, 2}, 6, true);
  heard(1, 6, 60'000);
  heard(2, 6, 60'000);
  EXPECT_EQ(quorum_.agreed_at(), at(60'000));
  quorum_.follow({0, 1, 2}, 7, false);
  EXPECT_TRUE(heard(1, 7, 60'100));
  EXPECT_TRUE(heard(2, 7, 60'100));
  EXPECT_EQ(quorum_.agreed_at(), at(60'000));
  EXPECT_FALSE(heard(1, 7, 62'200));
  EXPECT_FALSE(heard(2, 7, 62'200));
  EXPECT_EQ(quorum_.agreed_at(), at(62'200));
}

TEST_F(EpochQuorumTest, OthersHaveNoSay) {
  EXPECT_FALSE(heard(7, 9, 10));
  heard(0, 5, 20);
  heard(1, 5, 20);
  EXPECT_EQ(quorum_.agreed_at(), at(20));
}

TEST_F(EpochQuorumTest, OneMasterIsAMajorityOfItself) {
  EpochQuorum one(Millis(1000));
  one.follow({4}, 1, true);
  EXPECT_FALSE(one.heard(4, 1, at(5), at(6)));
  EXPECT_EQ(one.agreed_at(), at(5));
}

}  // namespace
}  // namespace heatsink::topology
