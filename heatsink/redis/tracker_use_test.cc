// SPDX-License-Identifier: Apache-2.0
// The tracker's questions for the CPU time of the server.
#include "heatsink/redis/tracker_fixture_for_test.h"

namespace heatsink::redis {
namespace {

const std::string kUseQuestions = request({"INFO", "stats"}) + request({"INFO", "cpu"});
const std::string kNoPermission = "-NOPERM this user has no permissions to run 'info'\r\n";

std::string stats_told(int commands) {
  return bulk("# Stats\r\ntotal_commands_processed:" + std::to_string(commands) + "\r\n");
}
std::string cpu_told(const std::string& user, const std::string& system) {
  return bulk("# CPU\r\nused_cpu_sys:" + system + "\r\nused_cpu_user:" + user +
              "\r\nused_cpu_sys_children:7\r\n");
}

class TrackerUse : public TrackerTest {
 protected:
  void SetUp() override {
    TrackerOptions asking = options();
    asking.use_interval = Millis(500);
    tracker_.set_options(asking);
    bring_up();
  }

  // The next heartbeat, and what the server answers to it.
  std::string beat(int ms) {
    EXPECT_TRUE(tracker_.tick(at(ms)).ok());
    std::string asked = sent();
    hear(kHeart, at(ms));
    return asked;
  }
};

TEST_F(TrackerUse, IsAskedForBehindTheProofAndNotWithEachHeartbeat) {
  EXPECT_EQ(beat(100), heartbeat() + kUseQuestions);
  EXPECT_EQ(hear(stats_told(4100) + cpu_told("1.5", "0.25"), at(101)),
            Lines{"use 1.75 s, 4100 commands"});
  EXPECT_EQ(beat(200), heartbeat());
  EXPECT_EQ(beat(600), heartbeat() + kUseQuestions);
}

TEST_F(TrackerUse, ARefusalIsToldAndTheNextQuestionComesLater) {
  EXPECT_EQ(beat(100), heartbeat() + kUseQuestions);
  EXPECT_EQ(hear(kNoPermission + kNoPermission, at(101)),
            Lines{"use: NOPERM this user has no permissions to run 'info'"});
  for (const int ms : {600, 1100, 5000, 60'000}) EXPECT_EQ(beat(ms), heartbeat()) << ms;
  EXPECT_EQ(beat(60'200), heartbeat() + kUseQuestions);
  EXPECT_EQ(hear(stats_told(1) + cpu_told("1", "0"), at(60'201)), Lines{"use 1.00 s, 1 commands"});
}

TEST_F(TrackerUse, AServerThatDoesNotTellItsCpuTimeIsNoServerWithoutWork) {
  beat(100);
  EXPECT_EQ(hear(stats_told(4100) + bulk("# CPU\r\n"), at(101)),
            Lines{"use: INFO has no used_cpu_sys"});
}

// Without copies the figure is the first one that an operator looks for.
TEST_F(TrackerUse, AtRestItIsAskedWithTheRarerHeartbeats) {
  tracker_.set_resting(true);
  EXPECT_TRUE(tracker_.tick(at(600)).ok());
  EXPECT_EQ(sent(), "");
  EXPECT_EQ(beat(1100), heartbeat() + kUseQuestions);
}

TEST_F(TrackerTest, TheUseIsNotAskedForWithoutAnInterval) {
  bring_up();
  EXPECT_TRUE(tracker_.tick(at(100)).ok());
  EXPECT_EQ(sent(), heartbeat());
}

}  // namespace
}  // namespace heatsink::redis
