// SPDX-License-Identifier: Apache-2.0
// A tracker that only reads, and one that asks for its user's rights.
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

// ---- at rest

using Resting = TrackerUp;

TEST_F(Resting, HeartbeatsGoAtItsInterval) {
  tracker_.set_resting(true);
  ASSERT_TRUE(tracker_.tick(at(999)).ok());
  EXPECT_EQ(sent(), "");
  ASSERT_TRUE(tracker_.tick(at(1000)).ok());
  EXPECT_EQ(sent(), heartbeat());
  hear(kHeart, at(1001));
  tracker_.set_resting(false);
  ASSERT_TRUE(tracker_.tick(at(1100)).ok());
  EXPECT_EQ(sent(), heartbeat());
}

TEST_F(Resting, AFillIsAskedBehindAProof) {
  const std::string read = request({"GETRANGE", "k", "0", "10"}) + request({"PTTL", "k"});
  tracker_.set_resting(true);
  tracker_.fill(1, {"k", 0}, at(99));
  EXPECT_EQ(sent(), read) << "the last is as good as another";
  tracker_.fill(2, {"k", 0}, at(100));
  EXPECT_EQ(sent(), heartbeat() + read);
  tracker_.fill(3, {"k", 0}, at(300));
  EXPECT_EQ(sent(), read) << "one is on its way";
}

// The tracker learns it at once: the fill sent after that gets no answer.
TEST_F(Resting, AServerThatIsNoMasterAnyMoreGivesNoCopy) {
  tracker_.set_resting(true);
  tracker_.fill(1, {"k", 0}, at(500));
  EXPECT_THAT(error_of("%1\r\n$4\r\nrole\r\n$7\r\nreplica\r\n" + kBeat + bulk("v") + integer(-1)),
              HasSubstr("replica"));
  EXPECT_THAT(log_.take(), IsEmpty());
}

TEST_F(Resting, OneThatIsStalledIsAskedAsOftenAsEver) {
  tracker_.set_resting(true);
  ASSERT_TRUE(tracker_.tick(at(1000)).ok());
  ASSERT_TRUE(tracker_.tick(at(2001)).ok());
  EXPECT_THAT(log_.take(), ElementsAre("down"));
  sent();
  hear(kHeart, at(2002));
  ASSERT_TRUE(tracker_.tick(at(2003)).ok());
  EXPECT_EQ(sent(), heartbeat());
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

  // The events that the answer causes.
  Lines answered(const std::string& rights, TimePoint now) {
    log_.take();
    EXPECT_TRUE(asking_->received(rights, now).ok());
    return log_.take();
  }
  // Asks again and answers.
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
