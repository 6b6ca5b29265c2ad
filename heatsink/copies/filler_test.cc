// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/filler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/copies/filler_fixture_for_test.h"
#include "heatsink/resp/resp.h"

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(FillerTest, AnswersAndKeepsTheCopy) {
  ask(3, at(0), at(10));
  hear_value("v", ":500\r\n");
  EXPECT_THAT(workers_.take(), ElementsAre("3: $1\r\nv\r\n sent 10"));
  ASSERT_NE(copy(), nullptr);
  EXPECT_EQ(copy()->reply, "$1\r\nv\r\n");
  EXPECT_EQ(copy()->deadline, at(510)) << "from the moment it was sent";
  EXPECT_TRUE(served(at(20)));
  EXPECT_FALSE(served(at(510)));
}

// The server does not show the rights of the proxy's user: a fill proves them for acl-staleness.
TEST_F(FillerTest, ACopyLivesNoLongerThanItsProofOfRights) {
  ask(0, at(0), at(10));
  hear_value("v");
  EXPECT_EQ(copy()->deadline, at(10 + kAclStalenessMs));
}

TEST_F(FillerTest, ChangedRightsEndAllCopies) {
  redis::TrackerOptions options = tracker_options();
  options.rights_interval = std::chrono::seconds(1);
  redis::Tracker asking(options, filler_);
  filler_.use(asking);
  const auto told = [&](std::string_view bytes) {
    ASSERT_TRUE(asking.received(bytes, at(10)).ok());
  };
  asking.connected(at(10));
  told("+PONG\r\n%0\r\n-NOPERM\r\n+OK\r\n%1\r\n+keys\r\n+~*\r\n:0\r\n");
  ask(0, at(10), at(11));
  told("$1\r\nv\r\n:-1\r\n");
  ASSERT_TRUE(served(at(20)));
  EXPECT_EQ(copy()->deadline, at(11 + 10'000)) << "the local maximum: the rights are known";
  workers_.take();
  ASSERT_TRUE(asking.tick(at(1010)).ok());
  told("%1\r\n+keys\r\n+~a*\r\n");
  EXPECT_EQ(copy(), nullptr);
  EXPECT_THAT(workers_.take(), ElementsAre("rights changed"));
  filler_.use(tracker_);
}

TEST_F(FillerTest, WorkersShareAFill) {
  ask(0, at(0), at(10));
  ask(1, at(9), at(11));
  ask(1, at(9), at(12));
  EXPECT_EQ(count(sent(), "GETRANGE"), 1u);
  hear_value("v");
  EXPECT_THAT(workers_.take(), ElementsAre("0: $1\r\nv\r\n sent 10", "1: $1\r\nv\r\n sent 10"));
}

TEST_F(FillerTest, WhoHasSeenMoreGetsALaterFill) {
  ask(0, at(0), at(10));
  ask(1, at(10), at(11));
  EXPECT_EQ(count(sent(), "GETRANGE"), 2u);
  hear_value("1");
  hear_value("2");
  EXPECT_THAT(workers_.take(), ElementsAre("0: $1\r\n1\r\n sent 10", "1: $1\r\n2\r\n sent 11"));
  EXPECT_EQ(copy()->fill_sent_at, at(11));
}

// Otherwise the requester would wait forever: the answer would not be later than the fence.
TEST_F(FillerTest, AFillIsLaterThanItsFenceWhateverTheClockSays) {
  TimePoint told{};
  workers_.when_told = [&](const FillAnswer& answer) { told = answer.sent_at; };
  ask(0, at(10), at(10));
  hear_value("1");
  EXPECT_GT(told, at(10));
  shared_.fences.raise(kName, at(10));
  EXPECT_TRUE(served(at(11)));

  const TimePoint before = told;
  ask(0, before, at(10));
  hear_value("2");
  EXPECT_GT(told, before);
}

TEST_F(FillerTest, WhatIsAboutToBeShownIsNotedFirst) {
  workers_.when_told = [&](const FillAnswer& answer) {
    EXPECT_EQ(entry().shown(), answer.sent_at);
    EXPECT_EQ(shared_.table.shown(), answer.sent_at);
  };
  ask(0, at(0), at(10));
  hear_value("v");
  hear(kPushOfK);
  EXPECT_EQ(copy(), nullptr);
  EXPECT_EQ(entry().shown(), at(10)) << "it was shown, though it is gone";
  EXPECT_EQ(workers_.take().size(), 1u);
}

TEST_F(FillerTest, AnInvalidationDropsTheNameInEveryDatabase) {
  ask(0, at(0), at(10), 0);
  hear_value("0");
  ask(0, at(0), at(11), 1);
  hear(kOk);
  hear_value("1");
  EXPECT_TRUE(served(at(20), 0) && served(at(20), 1));
  hear(kPushOfK);
  EXPECT_EQ(copy(0), nullptr);
  EXPECT_EQ(copy(1), nullptr);
}

TEST_F(FillerTest, AChangeIsReportedForEachKeyThatHadACopy) {
  hear(kPushOfK);
  EXPECT_THAT(workers_.changes, IsEmpty()) << "it had none";
  ask(0, at(0), at(10), 1);
  hear(kOk);
  hear_value("1");
  hear(kPushOfK);
  EXPECT_THAT(workers_.changes, ElementsAre(key(1)));
}

TEST_F(FillerTest, AChangeWhileItIsReadIsAnsweredAndNotKept) {
  ask(0, at(0), at(10));
  hear("$1\r\nv\r\n");
  hear(kPushOfK);
  hear(kNoTtl);
  EXPECT_THAT(workers_.take(), ElementsAre("0: $1\r\nv\r\n sent 10"));
  EXPECT_EQ(copy(), nullptr);
  EXPECT_EQ(counters_.read(Count::kFillsSpoiled), 1u);
}

TEST_F(FillerTest, AFlushEndsWhatIsOnItsWay) {
  ask(0, at(0), at(10));
  hear(kPushOfAll);
  hear_value("v");
  EXPECT_EQ(workers_.take().size(), 1u);
  EXPECT_EQ(copy(), nullptr);
}

TEST_F(FillerTest, AKeyThatIsHotNoLongerIsAnsweredAndNotKept) {
  ask(0, at(0), at(10));
  shared_.table.demote(key());
  hear_value("v");
  EXPECT_EQ(workers_.take().size(), 1u);
  EXPECT_EQ(shared_.table.copies(), 0u);
}

TEST_F(FillerTest, ALostTrackerEndsAllCopiesAndSendsWaitersToTheServer) {
  ask(0, at(0), at(10), 1);
  hear(kOk);
  hear_value("v");
  ask(0, at(0), at(20), 0);
  workers_.take();
  const cache::Generation before = shared_.proof.generation();
  tracker_.disconnected("gone");
  EXPECT_THAT(workers_.take(), ElementsAre("0: ask yourself sent 20"));
  EXPECT_EQ(copy(1), nullptr);
  EXPECT_NE(shared_.proof.generation(), before);
  EXPECT_FALSE(shared_.proof.up());
  EXPECT_EQ(filler_.state(), "gone");
  ask(2, at(0), at(30));
  EXPECT_THAT(workers_.take(), ElementsAre("2: ask yourself sent 30"));
}

TEST_F(FillerTest, WhatLivesByItsDeadlineAloneOutlivesTheTracker) {
  shared_.table.demote(key());
  shared_.table.promote("k", 0, key(), kName, TimePoint{}, {cache::Level::kTtl, Nanos(0)});
  ask(0, at(0), at(10));
  hear_value("v");
  tracker_.disconnected("gone");
  EXPECT_TRUE(served(at(8'000)));
  tracker_.connected(at(8'000));
  hear(kHandshake);
  EXPECT_TRUE(served(at(10 + kAclStalenessMs - 1)));
  EXPECT_FALSE(served(at(10 + kAclStalenessMs))) << "and with it the proof of rights";
  hear(kPushOfAll);
  EXPECT_EQ(copy(), nullptr);
}

TEST_F(FillerTest, NothingOutlivesTheTrackerForLongerThanRightsMayGoUnproven) {
  shared_.table.demote(key());
  shared_.table.promote("k", 0, key(), kName, TimePoint{}, {cache::Level::kTtl, Nanos(0)});
  ask(0, at(0), at(10));
  hear_value("v");
  filler_.tick(at(5'000));
  tracker_.disconnected("gone");
  filler_.tick(at(5'100));
  tracker_.connected(at(5'200));
  tracker_.disconnected("again");
  filler_.tick(at(5'100 + kAclStalenessMs / 4 - 1));
  EXPECT_NE(copy(), nullptr);
  filler_.tick(at(5'100 + kAclStalenessMs / 4));
  EXPECT_EQ(copy(), nullptr);
}

TEST_F(FillerTest, TheAnswerTellsWhatIsPromisedOfTheKey) {
  const cache::ConsistencyPolicy consistency{cache::Level::kSession, Millis(300)};
  workers_.when_told = [&](const FillAnswer& answer) {
    EXPECT_EQ(answer.consistency, consistency);
  };
  filler_.request({0, key(), "k", 0, at(0), {key().value}, {}, consistency}, at(10));
  hear_value("v");
  EXPECT_EQ(workers_.take().size(), 1u);
}

TEST_F(FillerTest, MissingKeysAreCopiesToo) {
  ask(0, at(0), at(10));
  hear(kNoKey);
  EXPECT_THAT(workers_.take(), ElementsAre("0: nil sent 10"));
  ASSERT_NE(copy(), nullptr);
  EXPECT_TRUE(copy()->nil);
}

TEST_F(FillerTest, WhatCannotBeKeptSaysWhy) {
  ask(0, at(0), at(10));
  hear_value("12345678901");
  EXPECT_EQ(entry().uncacheable(), cache::Uncacheable::kTooBig);
  ask(0, at(10), at(20));
  hear("-WRONGTYPE of it\r\n:-1\r\n");
  EXPECT_EQ(entry().uncacheable(), cache::Uncacheable::kWrongType);
  EXPECT_THAT(workers_.take(), ElementsAre("0: ask yourself sent 10", "0: ask yourself sent 20"));
  EXPECT_EQ(counters_.read(Count::kFillsFailed), 2u);
}

TEST_F(FillerTest, BarriersOfOneTurnShareOneQuestion) {
  filler_.barrier({0, 5, false});
  filler_.barrier({1, 6, false});
  EXPECT_THAT(sent(), IsEmpty());
  filler_.send_barriers(at(10));
  filler_.send_barriers(at(10));
  EXPECT_EQ(count(sent(), "EXISTS"), 1u);
  EXPECT_THAT(workers_.take(), IsEmpty());
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5", "1: release 6"));
}

// A session at level session waits for this.
TEST_F(FillerTest, ABarrierProvesTheCopiesByTheTimeItWasAsked) {
  filler_.barrier({0, 5, false, 9});
  filler_.send_barriers(at(40));
  EXPECT_LT(shared_.proof.proven_at(), at(40));
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5 of wait 9"));
  EXPECT_EQ(shared_.proof.proven_at(), at(40));
}

TEST_F(FillerTest, ABarrierComesBehindTheInvalidations) {
  ask(0, at(0), at(10));
  hear_value("v");
  filler_.barrier({0, 5, false});
  filler_.send_barriers(at(20));
  hear(kPushOfK);
  EXPECT_EQ(copy(), nullptr);
  workers_.take();
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5"));
}

TEST_F(FillerTest, WhatTheServerIsSilentAboutDropsEverythingAtOnce) {
  ask(0, at(0), at(10));
  hear_value("v");
  filler_.barrier({0, 0, true});
  EXPECT_EQ(copy(), nullptr);
  filler_.send_barriers(at(10));
  EXPECT_THAT(sent(), testing::Not(HasSubstr("EXISTS"))) << "nobody waits";
}

TEST_F(FillerTest, CodeThatMayExchangeDatabasesEndsTheCopiesBeforeItsReply) {
  ask(0, at(0), at(10));
  hear_value("v");
  workers_.take();
  filler_.barrier({0, 5, false, 0, true});
  filler_.send_barriers(at(20));
  EXPECT_THAT(sent(), HasSubstr("commandstats"));
  hear("-NOPERM User app has no permissions to run the 'info' command\r\n");
  EXPECT_EQ(copy(), nullptr) << "the server does not say";
  EXPECT_THAT(workers_.take(), IsEmpty());
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5"));
}

// The client is gone, but what its code did stays.
TEST_F(FillerTest, CodeOfAClientThatHasLeftEndsTheCopiesToo) {
  ask(0, at(0), at(10));
  hear_value("v");
  workers_.take();
  filler_.barrier({0, 0, false, 0, true});
  filler_.send_barriers(at(20));
  hear("-NOPERM User app has no permissions to run the 'info' command\r\n");
  EXPECT_EQ(copy(), nullptr);
  hear(kProof);
  EXPECT_THAT(workers_.take(), IsEmpty());
}

TEST_F(FillerTest, OneQuestionAboutExchangesIsUnderWayAtATime) {
  filler_.barrier({0, 5, false, 0, true});
  filler_.send_barriers(at(10));
  filler_.barrier({0, 6, false, 0, true});
  filler_.send_barriers(at(11));
  EXPECT_EQ(count(sent(), "commandstats"), 1u);
  hear("-ERR\r\n");
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5"));
  filler_.send_barriers(at(12));
  EXPECT_EQ(count(sent(), "commandstats"), 1u);
  hear("-ERR\r\n");
  hear(kProof);
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 6"));
}

TEST_F(FillerTest, NobodyIsHeldByATrackerThatIsDown) {
  filler_.barrier({0, 5, false});
  filler_.send_barriers(at(10));
  tracker_.disconnected("gone");
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 5"));
  filler_.barrier({0, 6, false});
  filler_.send_barriers(at(10));
  EXPECT_THAT(workers_.take(), ElementsAre("0: release 6"));
}

// ---- several reads of one key

TEST_F(FillerTest, EachReadOfAKeyIsAFillOfItsOwn) {
  ask(0, at(0), at(1));
  ask_field(1, at(0), at(2));
  EXPECT_THAT(sent(), HasSubstr("hget\r\n$1\r\nk\r\n$1\r\nf"));
  hear_value("v");
  hear(std::string(kNoTtl) + "_\r\n");
  EXPECT_THAT(workers_.take(), ElementsAre("0: $1\r\nv\r\n sent 1", "1: _\r\n sent 2"));
  ASSERT_NE(copy(), nullptr);
  ASSERT_NE(entry().copy(field()), nullptr);
  EXPECT_EQ(entry().copy(field())->reply_in(true), "_\r\n");
  EXPECT_EQ(entry().copy(field())->reply_in(false), "$-1\r\n");
  hear(kPushOfK);
  EXPECT_EQ(copy(), nullptr);
  EXPECT_EQ(entry().copy(field()), nullptr);
}

TEST_F(FillerTest, AReadThatIsRefusedLeavesTheOthersAlone) {
  ask_field(0, at(0), at(1));
  hear(std::string(kNoTtl) + "$1\r\nx\r\n");
  ask(0, at(0), at(2));
  hear("-WRONGTYPE it is a hash\r\n");
  hear(kNoTtl);
  EXPECT_THAT(workers_.take(), ElementsAre("0: $1\r\nx\r\n sent 1", "0: ask yourself sent 2"));
  EXPECT_NE(entry().copy(field()), nullptr);
  EXPECT_EQ(entry().uncacheable(), cache::Uncacheable::kWrongType);
}

TEST_F(FillerTest, AReadOfAMissingKeyCountsAsNil) {
  ask_field(0, at(0), at(1));
  hear(":-2\r\n_\r\n");
  ASSERT_NE(entry().copy(field()), nullptr);
  EXPECT_TRUE(entry().copy(field())->nil);
}

// On a server with HPTTL.
class FillerOfExpiringFields : public FillerTest {
 protected:
  FillerOfExpiringFields() {
    tracker_.disconnected("another server");
    tracker_.connected(at(0));
    hear(kHandshakeWithFields);
    sent();
  }
};

TEST_F(FillerOfExpiringFields, ACopyEndsWithItsField) {
  ask_field(0, at(0), at(1));
  EXPECT_THAT(sent(), HasSubstr("HPTTL\r\n$1\r\nk\r\n$6\r\nFIELDS\r\n$1\r\n1\r\n$1\r\nf"));
  hear(":900\r\n*1\r\n:400\r\n$1\r\nx\r\n");
  ASSERT_NE(entry().copy(field()), nullptr);
  EXPECT_EQ(entry().copy(field())->deadline, at(401)) << "from the moment it was sent";
}

TEST_F(FillerOfExpiringFields, WithoutPermissionToAskThereIsNoCopy) {
  ask_field(0, at(0), at(1));
  hear(":-1\r\n-NOPERM this user has no permissions to run the 'hpttl' command\r\n$1\r\nx\r\n");
  EXPECT_THAT(workers_.take(), ElementsAre("0: ask yourself sent 1"));
  EXPECT_EQ(entry().copy(field()), nullptr);
}

TEST_F(FillerTest, ALostSlotEndsItsCopiesAndWhatClientsKeepOfIt) {
  const std::uint16_t slot = resp::key_slot("k");
  const auto other = static_cast<std::uint16_t>(slot + 1);
  ask(0, at(0), at(10));
  hear_value("v");
  filler_.slot_lost(slot);
  filler_.drop_lost_slots();
  EXPECT_EQ(copy(), nullptr);
  EXPECT_THAT(workers_.lost_slots, IsEmpty()) << "no client keeps a name";
  shared_.kept_names.add(kName, slot);
  const std::uint32_t before = shared_.kept_names.changes(kName, slot);
  filler_.slot_lost(slot);
  filler_.slot_lost(other);
  EXPECT_THAT(workers_.lost_slots, IsEmpty()) << "the last proof holds still";
  filler_.heartbeat(0, at(20));
  EXPECT_THAT(std::exchange(workers_.lost_slots, {}), ElementsAre(slot, other));
  EXPECT_NE(shared_.kept_names.changes(kName, slot), before);
  filler_.slot_lost(other);
  filler_.drop_lost_slots();
  EXPECT_THAT(workers_.lost_slots, IsEmpty());
}

}  // namespace
}  // namespace heatsink::copies
