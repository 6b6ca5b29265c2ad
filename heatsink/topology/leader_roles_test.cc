// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_roles.h"

#include <gtest/gtest.h>

#include "heatsink/topology/replies_for_test.h"

namespace heatsink::topology {
namespace {

TEST(LeaderRoles, TheReplyOfAMasterNamesItsReplicas) {
  const auto role = parse_role(master_role(120, {kB}));
  ASSERT_TRUE(role.has_value());
  EXPECT_EQ(role->role, Role::kMaster);
  EXPECT_EQ(role->offset, 120);
  ASSERT_EQ(role->replicas.size(), 1U);
  EXPECT_EQ(role->replicas[0], kB);
}

TEST(LeaderRoles, TheReplyOfAReplicaNamesItsMaster) {
  const auto role = parse_role(replica_role(kA, 99));
  ASSERT_TRUE(role.has_value());
  EXPECT_EQ(role->role, Role::kReplica);
  EXPECT_EQ(role->offset, 99);
  EXPECT_EQ(role->master, kA);
}

TEST(LeaderRoles, OtherRepliesSayNothing) {
  EXPECT_FALSE(parse_role(error_reply("LOADING")).has_value());
  EXPECT_FALSE(parse_role(texts({"sentinel", "mymaster", "other"})).has_value());
  EXPECT_FALSE(parse_role(texts({"master"})).has_value());
  EXPECT_FALSE(parse_role({}).has_value());
}

class LeaderRolesTest : public testing::Test {
 protected:
  LeaderRolesTest() {
    roles_.add(kA);
    roles_.add(kB);
  }
  bool says(const net::HostPort& server, const resp::Value& reply) {
    return roles_.said(server, *parse_role(reply), now_ += Millis(1));
  }

  LeaderRoles roles_;
  TimePoint now_{Millis(1000)};
};

TEST_F(LeaderRolesTest, AReplicaThatSaysMasterIsPromoted) {
  EXPECT_FALSE(says(kA, master_role(50, {kB})));
  EXPECT_FALSE(says(kB, replica_role(kA, 50)));
  EXPECT_EQ(roles_.promoted(kA), nullptr);
  EXPECT_TRUE(says(kB, master_role(50)));
  ASSERT_NE(roles_.promoted(kA), nullptr);
  EXPECT_EQ(roles_.promoted(kA)->address, kB);
  EXPECT_EQ(roles_.promoted(kB), nullptr);  // the leader itself does not count
  EXPECT_FALSE(says(kB, master_role(51)));  // once
  roles_.forget_promotions();
  EXPECT_EQ(roles_.promoted(kA), nullptr);
}

TEST_F(LeaderRolesTest, APromotionSurvivesALostConnection) {
  says(kB, replica_role(kA, 50));
  roles_.failed(kB, "connection refused");
  EXPECT_FALSE(roles_.find(kB)->is_answering);
  EXPECT_TRUE(says(kB, master_role(60)));
}

TEST_F(LeaderRolesTest, AFormerMasterThatComesBackIsNotPromoted) {
  says(kA, master_role(50));
  roles_.failed(kA, "connection lost");
  EXPECT_FALSE(says(kA, master_role(0)));
  EXPECT_EQ(roles_.promoted(std::nullopt), nullptr);
}

TEST_F(LeaderRolesTest, AReplicaThatWasRestartedEmptyIsNotPromoted) {
  says(kB, replica_role(kA, 5000));
  EXPECT_FALSE(says(kB, master_role(0)));
}

TEST_F(LeaderRolesTest, AnotherProcessIsNotPromoted) {
  const auto says_as = [this](const char* process, const resp::Value& reply) {
    RoleReply role = *parse_role(reply);
    role.run_id = process;
    return roles_.said(kB, role, now_ += Millis(1));
  };
  says_as("first", replica_role(kA, 50));
  EXPECT_FALSE(says_as("second", master_role(50)));  // it has loaded the file of the first
  says_as("second", replica_role(kA, 60));
  EXPECT_TRUE(says_as("second", master_role(60)));
}

TEST_F(LeaderRolesTest, ADemotionEndsAPromotion) {
  says(kB, replica_role(kA, 50));
  says(kB, master_role(60));
  says(kB, replica_role(kA, 61));
  EXPECT_EQ(roles_.promoted(kA), nullptr);
}

TEST_F(LeaderRolesTest, TheLatestPromotionCounts) {
  const net::HostPort c{"10.0.0.3", 6379};
  roles_.add(c);
  for (const auto& each : {kB, c}) says(each, replica_role(kA, 50));
  says(c, master_role(60));
  says(kB, master_role(60));
  EXPECT_EQ(roles_.promoted(kA)->address, kB);
}

TEST_F(LeaderRolesTest, TheNumberOfServersIsLimited) {
  for (std::size_t i = 0; i < 2 * LeaderRoles::kServersMax; ++i)
    roles_.add({"10.1.0.1", static_cast<std::uint16_t>(i + 1)});
  EXPECT_EQ(roles_.servers().size(), LeaderRoles::kServersMax);
  EXPECT_FALSE(roles_.add(kA));
}

}  // namespace
}  // namespace heatsink::topology
