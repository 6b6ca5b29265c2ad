// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/replica_role.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace heatsink::proxy {
namespace {

constexpr std::string_view kSame =
    "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.1\r\n:6379\r\n$9\r\nconnected\r\n:382\r\n";

class ReplicaRoleTest : public testing::Test, public ReplicaCarrier::Reader {
 protected:
  ReplicaRoleTest() {
    replica_ = std::make_shared<topology::Replica>(net::RedisUrl{}, false);
    publish("10.0.0.1:6379");
    role_.of(replica_);
  }
  void publish(const std::string& master) {
    topology::ReplicaProof proof;
    proof.follows = master;
    replica_->publish(proof, TimePoint(Millis(1)));
  }
  // Two replies are held; what becomes of them when ROLE is answered so.
  std::string held_after(std::string_view reply) {
    said_.clear();
    role_.keep(3, *this);
    role_.keep(7, *this);
    role_.take_reply(1, reply);
    Pending pending;
    pending.ticket = 1;
    role_.reply_done(pending, true, {}, {});
    return said_;
  }
  void replica_follows(ReplyQueue::Ticket ticket, bool same_master) override {
    said_ += std::to_string(ticket) + (same_master ? " yes " : " no ");
  }

  std::shared_ptr<topology::Replica> replica_;
  ReplicaRole role_;
  std::string said_;
};

TEST_F(ReplicaRoleTest, AReplicaOfTheSameMasterIsBelieved) {
  EXPECT_EQ(held_after(kSame), "3 yes 7 yes ");
  EXPECT_EQ(role_.take_refusal(), "");
}

TEST_F(ReplicaRoleTest, NoOtherAnswerIs) {
  for (const std::string_view other : {
           "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.2\r\n:6379\r\n$9\r\nconnected\r\n:382\r\n",
           "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.1\r\n:6380\r\n$9\r\nconnected\r\n:382\r\n",
           "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.1\r\n:6379\r\n$4\r\nsync\r\n:-1\r\n",
           "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.1\r\n:6379\r\n$7\r\nconnect\r\n:-1\r\n",
           "*5\r\n$5\r\nslave\r\n:1\r\n:6379\r\n$9\r\nconnected\r\n:382\r\n",
           "*3\r\n$6\r\nmaster\r\n:382\r\n*0\r\n",
           "*0\r\n",
           "$5\r\nslave\r\n",
       })
    EXPECT_EQ(held_after(other), "3 no 7 no ") << other;
}

TEST_F(ReplicaRoleTest, WithoutAProofNoMasterIsTheRightOne) {
  publish("");
  EXPECT_EQ(held_after(kSame), "3 no 7 no ");
  publish("10.0.0.1:6379");
  EXPECT_EQ(held_after(kSame), "3 yes 7 yes ");
  replica_->leave();
  EXPECT_EQ(held_after(kSame), "3 no 7 no ");
}

TEST_F(ReplicaRoleTest, ARefusalIsKeptForTheLog) {
  EXPECT_EQ(held_after("-NOPERM no role\r\n"), "3 no 7 no ");
  EXPECT_EQ(role_.take_refusal(), "NOPERM no role");
  EXPECT_EQ(role_.take_refusal(), "");
}

TEST_F(ReplicaRoleTest, ALostConnectionProvesNothing) {
  role_.keep(3, *this);
  role_.give_up();
  EXPECT_EQ(said_, "3 no ");
}

}  // namespace
}  // namespace heatsink::proxy
