// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/limiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LimitingTest : public ReliefTest {
 protected:
  void begin(std::initializer_list<const char*> rules) {
    start(rules);
    lookup_ = std::make_unique<CopyLookup>(*parts, client.context);
    stale_ = std::make_unique<StaleReads>(*parts, *lookup_);
    limits_ = std::make_unique<Limiting>(*parts, client.context, *lookup_, *stale_);
  }

  // Sends a request to the server if the limits admit it.
  Outcome send(std::initializer_list<std::string_view> words) { return send(request(words)); }
  Outcome send(Request& asked) {
    asked.now = now;
    asked.is_last = true;
    const Outcome outcome = limits_->departs(asked);
    if (outcome != Outcome::kWaits) limits_->ended(outcome == Outcome::kPass);
    return outcome;
  }

  // Must be destroyed after the objects that use it.
  PlayedClient client{1};
  std::unique_ptr<CopyLookup> lookup_;
  std::unique_ptr<StaleReads> stale_;
  std::unique_ptr<Limiting> limits_;
};

TEST_F(LimitingTest, WithoutRulesNothingIsHeldToALimit) {
  begin({});
  EXPECT_FALSE(limits_->is_on());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(limits_->departs_in_part(request({"SET", "k", "v"})), Outcome::kPass);
}

TEST_F(LimitingTest, WhatIsOverTheLimitIsRefused) {
  begin({"match=k,limit.rate=1/s"});
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kAnswered);
  EXPECT_THAT(client.take(), ElementsAre(HasSubstr("gets -BUSY heatsink: key limited to 1/s")));
  EXPECT_EQ(send({"GET", "another"}), Outcome::kPass);
  EXPECT_EQ(shared->limits()->of("k", hash("k"))->counted(policy::LimitOutcome::kRejected), 1U);
}

TEST_F(LimitingTest, OfSeveralKeysTheRefusalNamesTheOne) {
  begin({"match=k,limit.rate=1/s"});
  send({"GET", "k"});
  send({"MGET", "a", "k"});
  EXPECT_THAT(client.answer(), HasSubstr("key k limited"));
}

TEST_F(LimitingTest, WhatTheServerWillRefuseAsksForNothing) {
  begin({"match=k,limit.rate=1/s"});
  EXPECT_EQ(send({"GET", "k", "too", "many"}), Outcome::kPass);
  EXPECT_EQ(send({"FROBNICATE", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
}

TEST_F(LimitingTest, WhatTheServerIsNotAskedIsGivenBack) {
  begin({"match=k,limit.rate=1/s"});
  ASSERT_EQ(limits_->departs(request({"GET", "k"})), Outcome::kPass);
  limits_->ended(false);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kAnswered);
}

TEST_F(LimitingTest, ARefusalInATransactionSpoilsIt) {
  begin({"match=k,limit.rate=1/s"});
  send({"GET", "k"});
  client.state.in_multi_ = true;
  send({"GET", "k"});
  EXPECT_THAT(client.take(), ElementsAre("spoiled", HasSubstr("gets -BUSY")));
  client.state.transaction_failed_ = true;
  send({"GET", "k"});
  EXPECT_THAT(client.take(), ElementsAre(HasSubstr("gets -BUSY")));
}

// ---- over: delay

TEST_F(LimitingTest, ADelayedRequestGoesOnWhenItsTurnHasCome) {
  begin({"match=k,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=1s"});
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
  Request& late = request({"GET", "k"});
  EXPECT_EQ(send(late), Outcome::kWaits);
  pass(Millis(99));
  EXPECT_THAT(client.take(), ElementsAre("held"));
  pass(Millis(2));
  EXPECT_THAT(client.take(), ElementsAre("let go"));
  EXPECT_EQ(send(late), Outcome::kPass) << "it does not ask twice";
}

TEST_F(LimitingTest, AClientThatLeavesWhileItWaitsIsNotWoken) {
  begin({"match=k,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=1s"});
  send({"GET", "k"});
  ASSERT_EQ(send({"GET", "k"}), Outcome::kWaits);
  limits_->close();
  pass(std::chrono::seconds(1));
  EXPECT_THAT(client.take(), ElementsAre("held"));
}

// ---- delayed refusals

TEST_F(LimitingTest, AClientThatOnlyGetsRefusalsGetsThemLate) {
  begin({"match=k,limit.rate=1/s"});
  send({"GET", "k"});
  for (std::uint32_t i = 0; i < RefusalPace::kAtOnce; ++i)
    ASSERT_EQ(send({"GET", "k"}), Outcome::kAnswered);
  client.take();
  Request& late = request({"GET", "k"});
  EXPECT_EQ(send(late), Outcome::kWaits);
  EXPECT_EQ(count(copies::Count::kRefusalsHeld), 1U);
  pass(options.refusal_delay);
  EXPECT_EQ(send(late), Outcome::kAnswered);
  EXPECT_THAT(client.take(), ElementsAre("held", "let go", HasSubstr("gets -BUSY")));
}

TEST_F(LimitingTest, AnythingElseEndsTheRow) {
  begin({"match=k,limit.rate=1/s"});
  send({"GET", "k"});
  for (std::uint32_t i = 0; i < 2 * RefusalPace::kAtOnce; ++i) {
    ASSERT_EQ(send({"GET", "k"}), Outcome::kAnswered);
    if (i % 10 == 0) send({"GET", "another"});
  }
  EXPECT_EQ(count(copies::Count::kRefusalsHeld), 0U);
}

// ---- hits, fills and requests in parts

TEST_F(LimitingTest, ALimitOfAllCountsWhatCopiesMayAnswerOnce) {
  begin({"match=k,limit.rate=1/s,limit.burst=2,limit.of=all"});
  Request& read = request({"GET", "k"});
  EXPECT_EQ(limits_->arrives(read), Outcome::kPass);
  EXPECT_EQ(send(read), Outcome::kPass) << "the server may answer it after all";
  EXPECT_EQ(limits_->arrives(request({"GET", "k"})), Outcome::kPass);
  limits_->ended(false);  // a hit
  EXPECT_EQ(limits_->arrives(request({"GET", "k"})), Outcome::kAnswered);
}

TEST_F(LimitingTest, OtherLimitsCountNoHits) {
  begin({"match=k,limit.rate=1/s"});
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(limits_->arrives(request({"GET", "k"})), Outcome::kPass);
    limits_->ended(false);
  }
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
}

TEST_F(LimitingTest, AFillIsSpentAlthoughTheRequestIsNotSent) {
  begin({"match=k,limit.rate=1/s"});
  const AskedKey key{"k", hash("k"), false};
  Request& read = request({"GET", "k"});
  EXPECT_EQ(limits_->admit_fill(read, {&key, 1}), Outcome::kPass);
  EXPECT_EQ(limits_->admit_fill(read, {&key, 1}), Outcome::kPass) << "once for each request";
  limits_->ended(false);
  EXPECT_EQ(limits_->admit_fill(request({"GET", "k"}), {&key, 1}), Outcome::kAnswered);
}

TEST_F(LimitingTest, ARequestTooBigToBeBufferedIsHeldToItsLimit) {
  begin({"match=k,limit.rate=1/s,limit.of=writes"});
  EXPECT_EQ(limits_->departs_in_part(request({"SET", "k", "v"})), Outcome::kPass);
  limits_->ended(true);
  EXPECT_EQ(limits_->departs_in_part(request({"SET", "k", "v"})), Outcome::kAnswered);
}

// ---- over: stale

TEST_F(LimitingTest, ARuleMayPreferAStaleCopyToARefusal) {
  begin({"match=k,limit.rate=1/s,limit.over=stale,limit.stale-max=10s"});
  heat("k");
  fill("k", "v");
  shared->proof.set_up(false);
  now += std::chrono::seconds(5);  // long after cache.max-staleness
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kAnswered);
  EXPECT_THAT(client.take(), ElementsAre("gets $1|v|"));
  EXPECT_EQ(shared->limits()->of("k", hash("k"))->counted(policy::LimitOutcome::kStale), 1U);
  EXPECT_EQ(send({"MGET", "k", "k"}), Outcome::kAnswered);
  EXPECT_EQ(client.answer(), "*2|$1|v|$1|v|");
}

TEST_F(LimitingTest, WithoutACopyThatIsYoungEnoughItIsRefused) {
  begin({"match=k,limit.rate=1/s,limit.over=stale,limit.stale-max=1s"});
  heat("k");
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  send({"GET", "k"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
  fill("k", "v");
  send({"SET", "k", "v"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY")) << "a copy does not answer a write";
  send({"GET", "k"});
  EXPECT_EQ(client.answer(), "$1|v|");
  now += Millis(1001);
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  send({"GET", "k"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY")) << "it is too old";
}

TEST_F(LimitingTest, NoStaleCopyIsServedBehindTheClientsOwnWrite) {
  begin({"match=k,limit.rate=1/s,limit.over=stale,limit.stale-max=10s"});
  heat("k");
  fill("k", "v");
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  client.traffic.touch(name("k"));
  send({"GET", "k"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
}

TEST_F(LimitingTest, NoStaleCopyIsServedToAUserWhoMayNotReadIt) {
  begin({"match=k,limit.rate=1/s,limit.over=stale,limit.stale-max=10s"});
  heat("k");
  fill("k", "v");
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  client.state.user_ = ClientState::User::kOther;
  send({"GET", "k"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
}

// Only one of the two keys has a rule with `over: stale`: the other needs a proven copy.
TEST_F(LimitingTest, AKeyWhoseRuleDoesNotAskForStaleCopiesMustBeProven) {
  begin({"match=k,limit.rate=1/s,limit.over=stale,limit.stale-max=10s"});
  for (const char* key : {"k", "other"}) {
    heat(key);
    fill(key, "v");
  }
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"MGET", "k", "other"}), Outcome::kAnswered);
  EXPECT_EQ(client.answer(), "*2|$1|v|$1|v|");
  now += std::chrono::milliseconds(1500);
  ASSERT_EQ(send({"GET", "k"}), Outcome::kPass);
  send({"MGET", "k", "other"});
  EXPECT_THAT(client.answer(), HasSubstr("-BUSY"));
}

// ---- a change of the configuration

// What the keeper and the worker do then.
void change(copies::NodeState& shared, Limiting& limits, const policy::ProxyOptions& options,
            TimePoint now) {
  const auto before = shared.held();
  const auto next = std::make_shared<const copies::PolicySnapshot>(options, before->credentials,
                                                                   shared.shown, before.get());
  if (next->limits && before->limits) next->limits->take_over(*before->limits, now);
  shared.publish(next);
  limits.policy_changed();
}

TEST_F(LimitingTest, ALimitThatComesLaterCounts) {
  begin({});
  EXPECT_FALSE(limits_->is_on());
  policy::RuleOptions rule;
  rule.match = "k";
  rule.limit_rate = "1/s";
  policy::ProxyOptions with = options;
  with.rules.push_back(rule);
  change(*shared, *limits_, with, now);
  EXPECT_TRUE(limits_->is_on());
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kAnswered);
  change(*shared, *limits_, options, now);
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
}

TEST_F(LimitingTest, AWaitingRequestKeepsToTheLimitThatItAsked) {
  begin({"match=k,limit.rate=4/s,limit.burst=1,limit.over=delay"});
  EXPECT_EQ(send({"GET", "k"}), Outcome::kPass);
  Request& waits = request({"GET", "k"});
  EXPECT_EQ(send(waits), Outcome::kWaits);
  policy::ProxyOptions without = options;
  without.rules.clear();
  change(*shared, *limits_, without, now);
  EXPECT_TRUE(limits_->is_on()) << "the request waits for its turn";
  pass(std::chrono::seconds(1));
  EXPECT_EQ(send(waits), Outcome::kPass);
  EXPECT_FALSE(limits_->is_on());
}

}  // namespace
}  // namespace heatsink::proxy
