// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_leader.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/topology/replies_for_test.h"

namespace heatsink::topology {
namespace {

class ReplicaLeaderTest : public testing::Test {
 protected:
  ReplicaLeaderTest() {
    for (const auto& each : {kA, kB}) roles_.add(each);
  }
  void says(const net::HostPort& server, const resp::Value& role) {
    roles_.said(server, *parse_role(role), now_ += Millis(1));
  }
  std::string leader() {
    const LeaderVerdict verdict = leader_.decide(roles_, now_);
    return verdict.leader ? verdict.leader->text() : "";
  }
  std::string problem() { return leader_.decide(roles_, now_).problem; }
  void begin() {
    says(kA, master_role(100));
    says(kB, replica_role(kA, 100));
    ASSERT_EQ(leader(), kA.text());
  }

  TimePoint now_{Millis(10'000)};
  LeaderRoles roles_;
  ReplicaLeader leader_{now_};
};

TEST_F(ReplicaLeaderTest, TheOneThatSaysMasterLeads) {
  says(kB, master_role(100));
  EXPECT_EQ(leader(), "");  // the other one may say so, too
  says(kA, replica_role(kB, 100));
  EXPECT_EQ(leader(), kB.text());
  EXPECT_EQ(leader_.decide(roles_, now_).confirmed_at, TimePoint::max());
}

TEST_F(ReplicaLeaderTest, AMasterAloneLeadsWhenTheOthersDoNotAnswer) {
  says(kA, master_role(100));
  roles_.failed(kB, "connection refused");
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(ReplicaLeaderTest, TwoMastersAtTheStartAreRefused) {
  says(kA, master_role(100));
  says(kB, master_role(100));
  EXPECT_EQ(leader(), "");
  EXPECT_NE(problem().find("10.0.0.1:6379 and 10.0.0.2:6379 say that they are masters"),
            std::string::npos)
      << problem();
  says(kB, replica_role(kA, 100));  // the operator has mended it
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(ReplicaLeaderTest, NoMasterIsSaidWithTheReasons) {
  says(kA, replica_role(kC, 1));
  roles_.failed(kB, "connection refused");
  EXPECT_EQ(leader(), "");
  EXPECT_NE(problem().find("10.0.0.1:6379 is a replica of 10.0.0.3:6379"), std::string::npos);
  EXPECT_NE(problem().find("10.0.0.2:6379: connection refused"), std::string::npos);
}

TEST_F(ReplicaLeaderTest, ThePromotedReplicaLeads) {
  begin();
  says(kB, master_role(120));
  EXPECT_EQ(leader(), kB.text());
  EXPECT_NE(problem().find("until then " + kB.text()), std::string::npos);
  says(kA, replica_role(kB, 120));
  EXPECT_EQ(leader(), kB.text());
  EXPECT_EQ(problem(), "");
  says(kA, master_role(130));  // back again, by an operator
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(ReplicaLeaderTest, AFormerMasterThatComesBackIsNotFollowed) {
  begin();
  roles_.failed(kA, "connection refused");
  says(kB, master_role(120));
  EXPECT_EQ(leader(), kB.text());
  says(kA, master_role(0));
  EXPECT_EQ(leader(), kB.text());
  EXPECT_NE(problem(), "");
}

TEST_F(ReplicaLeaderTest, AMasterThatIsGoneStaysWhileNoOtherIsPromoted) {
  begin();
  roles_.failed(kA, "connection refused");
  now_ += std::chrono::seconds(60);
  EXPECT_EQ(leader(), kA.text());
}

TEST_F(ReplicaLeaderTest, AfterADemotionItsNewMasterLeads) {
  begin();
  says(kA, replica_role(kC, 100));
  EXPECT_EQ(leader(), "");
  roles_.add(kC);  // the watch asks whoever is named
  says(kC, master_role(100));
  EXPECT_EQ(leader(), kC.text());
}

TEST_F(ReplicaLeaderTest, AmongSeveralMastersTheDemotedOnesMasterLeads) {
  begin();
  roles_.add(kC);
  says(kB, master_role(0));  // restarted, and empty
  EXPECT_EQ(leader(), kA.text());
  says(kC, master_role(100));
  says(kA, replica_role(kC, 100));
  EXPECT_EQ(leader(), kC.text());
}

}  // namespace
}  // namespace heatsink::topology
