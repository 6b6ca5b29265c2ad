// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/watch_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/doctor/facts_for_test.h"

namespace heatsink::doctor {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TimePoint at(int second) { return TimePoint(seconds(1000 + second)); }

Facts sentinel() {
  Facts facts = healthy();
  set_info(facts.server, "redis_mode", "sentinel");
  return facts;
}

Facts replica() {
  Facts facts = healthy();
  facts.server.replies["ROLE"] =
      list_value({text_value("slave"), text_value("10.0.0.1"), number_value(6379)});
  return facts;
}

Facts silent() {
  Facts facts = healthy();
  facts.server.contact = Contact::kSilent;
  return facts;
}

const Status kReady{Unit{}};
const Status kLost{Error{ErrorCode::kUnavailable, "upstream is not reachable"}};

TEST(WatchState, LooksAtTheStartAndAfterReconnects) {
  WatchState state;
  EXPECT_TRUE(state.is_due(at(0), 0));
  EXPECT_EQ(state.next(), When::kStart);
  state.learn(healthy(), When::kStart, at(0), 1);
  EXPECT_FALSE(state.is_due(at(3600), 1)) << "nothing has changed";
  EXPECT_FALSE(state.is_due(at(5), 2)) << "too soon";
  EXPECT_TRUE(state.is_due(at(10), 2));
  EXPECT_EQ(state.next(), When::kConnect);
}

TEST(WatchState, UntilTheServerAnswersEachLookIsAtEverything) {
  WatchState state;
  state.learn(silent(), When::kStart, at(0), 0);
  EXPECT_EQ(state.next(), When::kStart);
  EXPECT_TRUE(state.is_due(at(1), 1)) << "it has been reached";
  EXPECT_FALSE(state.is_due(at(59), 0));
  EXPECT_TRUE(state.is_due(at(60), 0));
}

TEST(WatchState, AnErrorOfTheServerIsLookedAtAgain) {
  WatchState state;
  state.learn(sentinel(), When::kStart, at(0), 0);
  EXPECT_TRUE(state.is_due(at(60), 0));
  state.learn(healthy(), When::kConnect, at(60), 0);
  EXPECT_FALSE(state.is_due(at(600), 0));
}

TEST(WatchState, EachWarningIsNewsOnce) {
  WatchState state;
  Facts facts = replica();
  facts.machine.open_files_max = 100;
  state.learn(facts, When::kStart, at(0), 1);
  EXPECT_THAT(state.take_news(), SizeIs(2));
  EXPECT_THAT(state.take_news(), IsEmpty());
  state.learn(facts, When::kConnect, at(60), 2);
  EXPECT_THAT(state.take_news(), IsEmpty());
  state.learn(silent(), When::kConnect, at(90), 3);
  EXPECT_THAT(state.take_news(), IsEmpty()) << "the proxy logs it itself";
}

TEST(WatchState, FindingsOfTheStartStay) {
  WatchState state;
  Facts facts = healthy();
  facts.machine.open_files_max = 100;
  state.learn(facts, When::kStart, at(0), 1);
  const std::size_t all = state.findings().size();
  state.learn(replica(), When::kConnect, at(60), 2);
  EXPECT_EQ(state.findings().size(), all);
  EXPECT_EQ(count_of(state.findings(), Level::kWarning), 2U);
  EXPECT_EQ(state.findings().front().code, checks().front().code) << "the order of the checks";
}

TEST(WatchState, WhatCanServeNothingIsNotReady) {
  WatchState state;
  EXPECT_TRUE(state.verdict(kReady).ok());
  state.learn(sentinel(), When::kStart, at(0), 0);
  const Status verdict = state.verdict(kReady);
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(
      verdict.error().message,
      HasSubstr("is a Sentinel, not a data server: it holds no keys; use redis+sentinel://"));
  state.learn(replica(), When::kConnect, at(60), 0);
  EXPECT_TRUE(state.verdict(kReady).ok());
  EXPECT_EQ(state.verdict(kLost).error().message, "upstream is not reachable");
}

TEST(WatchState, TheReasonIsInWordsForAnOperator) {
  WatchState state;
  Facts facts = healthy();
  facts.server.contact = Contact::kNotRedis;
  facts.server.first_bytes = "HTTP/1.1 400";
  state.learn(facts, When::kStart, at(0), 0);
  EXPECT_THAT(state.verdict(kLost).error().message, HasSubstr("a web server"));
  EXPECT_TRUE(state.verdict(kReady).ok()) << "the proxy has reached it since";
}

}  // namespace
}  // namespace heatsink::doctor
