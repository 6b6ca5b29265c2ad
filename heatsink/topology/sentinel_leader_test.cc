// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/sentinel_leader.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/topology/replies_for_test.h"

namespace heatsink::topology {
namespace {

// Three Sentinels s1, s2, s3 and the servers a, b, c.
class SentinelLeaderTest : public testing::Test {
 protected:
  SentinelLeaderTest() {
    for (const char* each : {"s1", "s2", "s3"}) leader_.add(each);
    for (const auto& each : {kA, kB, kC}) roles_.add(each);
  }

  void names(const char* sentinel, const net::HostPort& master, std::uint64_t epoch,
             bool doubts = false) {
    leader_.said(sentinel, {master, epoch, doubts, 2}, now_);
  }
  void all_name(const net::HostPort& master, std::uint64_t epoch) {
    for (const char* each : {"s1", "s2", "s3"}) names(each, master, epoch);
  }
  void says(const net::HostPort& server, const resp::Value& role) {
    roles_.said(server, *parse_role(role), now_);
  }
  void roles_are(const net::HostPort& master) {
    for (const auto& each : {kA, kB, kC})
      says(each, each == master ? master_role(100) : replica_role(master, 100));
  }
  LeaderVerdict decide() { return leader_.decide(roles_, now_); }
  // A name of the leader, or "".
  std::string leader() {
    const LeaderVerdict verdict = decide();
    return verdict.leader ? verdict.leader->text() : "";
  }
  void pass(Nanos time) { now_ += time; }

  TimePoint now_{Millis(10'000)};
  LeaderRoles roles_;
  SentinelLeader leader_{"mymaster", now_};
};

TEST_F(SentinelLeaderTest, AMajorityDecidesAtOnce) {
  EXPECT_EQ(leader(), "");
  names("s1", kA, 1);
  EXPECT_EQ(leader(), "");  // the others may know a later one
  names("s2", kA, 1);
  EXPECT_EQ(leader(), kA.text());
  EXPECT_EQ(decide().problem, "");
}

TEST_F(SentinelLeaderTest, OneSentinelDecidesWhenTheOthersDoNotAnswer) {
  names("s1", kA, 1);
  leader_.failed("s2", "connection refused");
  leader_.failed("s3", "connection refused");
  EXPECT_EQ(leader(), kA.text());
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());
  EXPECT_EQ(decide().problem, "");
  pass(SentinelLeader::kFirstAnswers);
  EXPECT_NE(decide().problem.find("only 1 Sentinel of 3"), std::string::npos) << decide().problem;
}

TEST_F(SentinelLeaderTest, OneSentinelDecidesWhenTheOthersAreSilent) {
  names("s1", kA, 1);
  pass(SentinelLeader::kFirstAnswers);
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(SentinelLeaderTest, TheHighestEpochWinsAtTheStart) {
  names("s1", kA, 1);
  names("s2", kA, 1);
  names("s3", kB, 2);
  EXPECT_EQ(leader(), kB.text());
}

TEST_F(SentinelLeaderTest, OneSentinelWithAHigherEpochIsFollowed) {
  all_name(kA, 1);
  EXPECT_EQ(leader(), kA.text());
  names("s2", kB, 2);
  EXPECT_EQ(leader(), kB.text());
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());  // the two others do not know it yet
  names("s3", kB, 2);
  EXPECT_EQ(decide().confirmed_at, now_);
}

TEST_F(SentinelLeaderTest, AFormerMasterNeedsAHigherEpoch) {
  all_name(kA, 1);
  EXPECT_EQ(leader(), kA.text());
  all_name(kB, 2);
  EXPECT_EQ(leader(), kB.text());
  all_name(kA, 1);  // all of them, such as after a restart from old files
  EXPECT_EQ(leader(), kB.text());
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());
  all_name(kA, 3);
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(SentinelLeaderTest, AMajorityMayNameANewServerWithALowerEpoch) {
  all_name(kA, 5);
  EXPECT_EQ(leader(), kA.text());
  names("s1", kC, 0);  // the master was removed and monitored again
  EXPECT_EQ(leader(), kA.text());
  all_name(kC, 0);
  EXPECT_EQ(leader(), kC.text());
}

TEST_F(SentinelLeaderTest, AConfirmationIsAsOldAsTheMajoritysOldestAnswer) {
  all_name(kA, 1);
  leader();
  const TimePoint first = now_;
  pass(Millis(250));
  names("s1", kA, 1);
  EXPECT_EQ(decide().confirmed_at, first);  // s1 now, s2 and s3 then
  pass(Millis(250));
  const TimePoint second = now_;
  names("s2", kA, 1);
  EXPECT_EQ(decide().confirmed_at, second - Millis(250));
}

TEST_F(SentinelLeaderTest, ASentinelInDoubtDoesNotConfirm) {
  all_name(kA, 1);
  leader();
  const TimePoint first = now_;
  pass(Millis(100));
  names("s1", kA, 1, true);
  EXPECT_EQ(decide().confirmed_at, first);
  names("s2", kA, 1, true);
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());
  EXPECT_EQ(leader(), kA.text());  // reads and writes still go there
}

TEST_F(SentinelLeaderTest, SentinelsThatOthersKnowCountForTheMajority) {
  for (const char* each : {"s1", "s2", "s3"}) leader_.said(each, {kA, 1, false, 6}, now_);
  EXPECT_EQ(leader(), kA.text());
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());  // 3 of 7
  EXPECT_EQ(leader_.counts(now_).known, 7U);
  EXPECT_EQ(leader_.counts(now_).answering, 3U);
}

TEST_F(SentinelLeaderTest, TwoAddressesOfOneSentinelCountOnce) {
  EXPECT_TRUE(leader_.identify("s1", "id-1"));
  EXPECT_TRUE(leader_.identify("s1", "id-1"));
  EXPECT_FALSE(leader_.identify("s2", "id-1"));
  EXPECT_TRUE(leader_.identify("s3", "id-3"));
}

TEST_F(SentinelLeaderTest, APromotedReplicaEndsTheUseOfTheMaster) {
  all_name(kA, 1);
  roles_are(kA);
  EXPECT_EQ(leader(), kA.text());
  says(kB, master_role(120));
  EXPECT_EQ(leader(), "");
  EXPECT_NE(decide().problem.find(kB.text() + " was a replica"), std::string::npos);
  EXPECT_EQ(decide().confirmed_at, TimePoint::min());
  all_name(kA, 1);  // the Sentinels do not know it yet
  EXPECT_EQ(leader(), "");
  names("s1", kB, 2);
  EXPECT_EQ(leader(), kB.text());
  says(kA, master_role(100));  // back from SIGSTOP, and a master for ten seconds
  EXPECT_EQ(leader(), kB.text());
  says(kA, replica_role(kB, 120));
  EXPECT_EQ(leader(), kB.text());
}

TEST_F(SentinelLeaderTest, APromotionByMistakeEnds) {
  all_name(kA, 1);
  roles_are(kA);
  leader();
  says(kB, master_role(120));
  EXPECT_EQ(leader(), "");
  says(kB, replica_role(kA, 130));  // the Sentinels have turned it back
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(SentinelLeaderTest, APromotionThatNoSentinelFollowsDoesNotLastForEver) {
  all_name(kA, 1);
  roles_are(kA);
  leader();
  says(kB, master_role(120));
  EXPECT_EQ(leader(), "");
  pass(SentinelLeader::kPromotionLasts);
  all_name(kA, 1);
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(SentinelLeaderTest, AMasterThatSaysItIsAReplicaIsNotUsed) {
  all_name(kA, 1);
  leader();
  says(kA, replica_role(kB, 100));
  EXPECT_EQ(leader(), "");
  EXPECT_NE(decide().problem.find("a replica of " + kB.text()), std::string::npos);
  roles_.failed(kA, "connection lost");  // what it said last may be old
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(SentinelLeaderTest, TheLeaderStaysWhileNoSentinelAnswers) {
  all_name(kA, 1);
  EXPECT_EQ(leader(), kA.text());
  const TimePoint first = now_;
  pass(std::chrono::seconds(60));
  EXPECT_EQ(leader(), kA.text());
  EXPECT_EQ(decide().confirmed_at, first);  // too old for any copy
  EXPECT_NE(decide().problem.find("only 0 Sentinels of 3"), std::string::npos);
}

TEST_F(SentinelLeaderTest, WithoutALeaderTheProblemOfTheSentinelsIsSaid) {
  leader_.failed("s1", "it does not watch 'mymaster', but 'other'");
  leader_.failed("s2", "connection refused");
  const std::string problem = decide().problem;
  EXPECT_NE(problem.find("s1: it does not watch"), std::string::npos) << problem;
  EXPECT_NE(problem.find("s2: connection refused"), std::string::npos) << problem;
}

}  // namespace
}  // namespace heatsink::topology
