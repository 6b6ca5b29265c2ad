// SPDX-License-Identifier: Apache-2.0
// A tracker that only reads, and one that asks what its user may do.
#include <optional>

#include "heatsink/redis/tracker_fixture_for_test.h"

namespace heatsink::redis {
namespace {

// ---- without tracking

class Reading : public TrackerTest {
 protected:
  static TrackerOptions reading() {
    TrackerOptions options = TrackerTest::options();
    options.name = "reader";
    options.tracking = false;
    return options;
  }
};

TEST_F(Reading, AsksForNothingButAProof) {
  Tracker reader(reading(), log_);
  reader.connected(at(0));
  EXPECT_EQ(reader.output().view(),
            request({"HELLO", "3", "SETNAME", "reader"}) + request({"EXISTS", "hb"}));
  ASSERT_TRUE(reader.received(kHello + kBeat, at(1)).ok());
  EXPECT_THAT(log_.take(), ElementsAre("up", "heartbeat 0"));
  reader.fill(7, {"k", 0}, at(5));
  ASSERT_TRUE(reader.received(bulk("v") + ":-1\r\n", at(6)).ok());
  EXPECT_THAT(log_.take(), ElementsAre("filled 7 value sent 5 \"v\""));
}

// ---- rights

class Rights : public TrackerTest {
 protected:
  Rights() {
    TrackerOptions options = TrackerTest::options();
    options.rights_interval = Millis(500);
    options.credentials = {"app", "secret"};
    asking_.emplace(options, log_);
    asking_->connected(at(0));
    asking_->output().clear();
    EXPECT_TRUE(asking_->received(kPong + kHello + kCommands + kOk, at(1)).ok());
  }

  // What comes of the answer.
  Lines answered(const std::string& rights, TimePoint now) {
    log_.take();
    EXPECT_TRUE(asking_->received(rights, now).ok());
    return log_.take();
  }
  // Asked again, and answered.
  Lines later(const std::string& rights, int ms) {
    EXPECT_TRUE(asking_->tick(at(ms)).ok());
    const std::string question = request({"ACL", "GETUSER", "app"});
    EXPECT_TRUE(asking_->output().view().starts_with(question)) << asking_->output().view();
    const bool beats = asking_->output().size() > question.size();
    asking_->output().clear();
    EXPECT_TRUE(beats);
    return answered(rights + kHello + kBeat, at(ms + 1));
  }

  static inline const std::string kAll = "%1\r\n$4\r\nkeys\r\n$2\r\n~*\r\n";
  static inline const std::string kSome = "%1\r\n$4\r\nkeys\r\n$3\r\n~a*\r\n";
  static inline const std::string kForbidden = "-NOPERM no\r\n";
  std::optional<Tracker> asking_;
};

TEST_F(Rights, AreKnownBeforeTheFirstProof) {
  EXPECT_FALSE(asking_->rights_known());
  EXPECT_THAT(answered(kAll, at(1)), IsEmpty());
  EXPECT_TRUE(asking_->rights_known());
  EXPECT_FALSE(asking_->up());
  EXPECT_THAT(answered(kBeat, at(1)), ElementsAre("up", "heartbeat 0"));
}

TEST_F(Rights, AChangeIsTold) {
  answered(kAll + kBeat, at(1));
  EXPECT_THAT(later(kAll, 500), ElementsAre("heartbeat 500"));
  EXPECT_THAT(later(kSome, 1000), ElementsAre("rights changed", "heartbeat 1000"));
  EXPECT_THAT(later(kSome, 1500), ElementsAre("heartbeat 1500"));
}

TEST_F(Rights, AreAskedForNoMoreOftenThanTheIntervalSays) {
  answered(kAll + kBeat, at(1));
  ASSERT_TRUE(asking_->tick(at(499)).ok());
  EXPECT_THAT(std::string(asking_->output().view()), testing::Not(HasSubstr("ACL")));
}

TEST_F(Rights, ARefusalIsNoKnowledge) {
  answered(kForbidden + kBeat, at(1));
  EXPECT_FALSE(asking_->rights_known());
  EXPECT_THAT(later(kForbidden, 500), ElementsAre("heartbeat 500"));
  EXPECT_THAT(later(kAll, 1000), ElementsAre("rights changed", "heartbeat 1000"));
  EXPECT_TRUE(asking_->rights_known());
  EXPECT_THAT(later(kForbidden, 1500), ElementsAre("rights changed", "heartbeat 1500"));
  EXPECT_FALSE(asking_->rights_known());
}

TEST_F(Rights, OfANewConnectionAreNotComparedWithThoseOfTheOld) {
  answered(kAll + kBeat, at(1));
  asking_->disconnected("lost");
  asking_->connected(at(2));
  EXPECT_FALSE(asking_->rights_known());
  EXPECT_THAT(
      answered(kPong + kHello + kCommands + kOk + kSome + kBeat, at(3)),
      ElementsAre("facts  open no commands", "facts 7.0.15 open commands", "up", "heartbeat 2"));
}

}  // namespace
}  // namespace heatsink::redis
