// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/pattern_search.h"
#include "heatsink/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::copies {
namespace {

using State = report::WarmSearch::State;
using testing::ElementsAre;
using testing::HasSubstr;

policy::ProxyOptions search_options() {
  policy::ProxyOptions options;
  options.maximum_size = 10;
  options.warm_share = Share{0.5};  // five keys
  return options;
}

PatternSearch::Order order(std::size_t limit = 100, std::uint32_t source = Warmer::kByHand) {
  PatternSearch::Order out;
  out.pattern.glob = "k*";
  out.pattern.keys_max = limit;
  out.source = source;
  out.until = TimePoint(std::chrono::hours(1));
  return out;
}

std::string page_of(const std::string& cursor, const std::vector<std::string>& names) {
  const auto bulk = [](const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  };
  std::string out = "*2\r\n" + bulk(cursor) + "*" + std::to_string(names.size()) + "\r\n";
  for (const std::string& name : names) out += bulk(name);
  return out;
}

// A server whose replies the test chooses.
class PatternSearchTest : public testing::Test {
 protected:
  void make(const PatternSearch::Order& what) { search_.emplace(7, what, shared_, now_); }
  void begin(const PatternSearch::Order& what) {
    make(what);
    search_->begin(now_);
    connect();
  }
  void connect() {
    search_->protocol().connected(now_);
    said();
    hear("%0\r\n");
  }
  void step(Nanos later = Millis(100)) {
    now_ += later;
    search_->step(now_, warmer_);
  }
  std::string said() {
    ByteBuffer& output = search_->protocol().output();
    std::string out(output.view());
    output.consume(output.size());
    return out;
  }
  void hear(const std::string& bytes) {
    EXPECT_TRUE(search_->protocol().received(bytes, now_).ok());
  }
  // Expects the request for the next page, and answers it.
  void page(const std::string& cursor, const std::vector<std::string>& names) {
    step();
    const std::string asked = said();
    ASSERT_THAT(asked, HasSubstr("SCAN"));
    if (asked.find("DBSIZE") != std::string::npos) hear(":400\r\n");
    hear(page_of(cursor, names));
    step();
  }
  void loaded() {
    for (const FillRequest& each : warmer_.due(now_))
      warmer_.filled(each, FillOutcome::kKept, now_);
  }
  bool warm(const std::string& key) const { return warmer_.holds(warmer_.hash_of({key, 0})); }
  report::WarmSearch report() const { return search_->report(warmer_); }

  TimePoint now_{std::chrono::seconds(10)};
  NodeState shared_{search_options(), *net::parse_redis_url("redis://127.0.0.1:6379"), 1};
  Warmer warmer_{shared_};
  std::optional<PatternSearch> search_;
};

TEST_F(PatternSearchTest, WalksTheDatabaseAndWarmsWhatItFinds) {
  shared_.proof.set_up(true);
  begin(order());
  step();
  const std::string asked = said();
  EXPECT_THAT(asked, HasSubstr("DBSIZE"));
  EXPECT_THAT(asked, HasSubstr("SCAN\r\n$1\r\n0\r\n$5\r\nMATCH\r\n$2\r\nk*\r\n$5\r\nCOUNT\r\n"));
  step();
  EXPECT_EQ(said(), "") << "one page at a time";
  hear(":400\r\n" + page_of("17", {"k1", "k2"}));
  step();
  EXPECT_TRUE(warm("k1"));
  EXPECT_THAT(said(), HasSubstr("SCAN\r\n$2\r\n17\r\n"));
  EXPECT_EQ(report().progress, 0.25);
  EXPECT_EQ(report().loading, 2U);
  hear(page_of("0", {"k3", "k1"}));
  step();
  EXPECT_EQ(report().state, State::kFinished);
  EXPECT_EQ(report().found, 3U) << "a page may name a key again";
  EXPECT_EQ(report().warmed, 3U);
  EXPECT_EQ(report().progress, 1);
  loaded();
  EXPECT_EQ(report().loading, 0U);
  EXPECT_EQ(search_->keys(warmer_)[2].outcome, report::WarmOutcome::kLoaded);
}

TEST_F(PatternSearchTest, ADatabaseOfItsOwn) {
  PatternSearch::Order what = order();
  what.pattern.db = 3;
  make(what);
  search_->begin(now_);
  search_->protocol().connected(now_);
  EXPECT_THAT(said(), HasSubstr("SELECT\r\n$1\r\n3\r\n"));
  hear("%0\r\n+OK\r\n");
  page("0", {"k1"});
  EXPECT_TRUE(warmer_.holds(warmer_.hash_of({"k1", 3})));
}

TEST_F(PatternSearchTest, WhatIsPastTheLimitIsCountedToTheEnd) {
  begin(order(2));
  page("5", {"k1", "k2", "k3"});
  page("0", {"k4", "k5"});
  EXPECT_EQ(report().state, State::kFinished);
  EXPECT_EQ(report().found, 5U);
  EXPECT_EQ(report().warmed, 2U);
  EXPECT_EQ(report().left_out, 3U);
  EXPECT_THAT(report().left_out_names, ElementsAre("k3", "k4", "k5"));
  EXPECT_EQ(report().note, "the limit is 2 keys");
}

TEST_F(PatternSearchTest, AFullTableLeavesOutTheOthers) {
  begin(order());
  page("0", {"k1", "k2", "k3", "k4", "k5", "k6", "k7"});
  EXPECT_EQ(report().warmed, 5U);
  EXPECT_EQ(report().left_out, 2U);
  EXPECT_THAT(report().note, HasSubstr("cache.warm-share"));
}

TEST_F(PatternSearchTest, NoMoreLoadThanItMay) {
  PatternSearch::Order what = order();
  what.pattern.loading_max = 2;
  shared_.proof.set_up(true);
  begin(what);
  page("5", {"k1", "k2", "k3"});
  EXPECT_FALSE(warm("k3"));
  step();
  EXPECT_EQ(said(), "") << "no page while there are keys in hand";
  loaded();
  step();
  EXPECT_TRUE(warm("k3"));
  EXPECT_THAT(said(), HasSubstr("SCAN"));
}

TEST_F(PatternSearchTest, NoMoreInASecondThanWasAskedFor) {
  PatternSearch::Order what = order();
  what.pattern.keys_per_second = 0.5;
  begin(what);
  page("0", {"k1", "k2"});
  EXPECT_TRUE(warm("k1"));
  step(Millis(1500));
  EXPECT_FALSE(warm("k2"));
  step(Millis(600));
  EXPECT_TRUE(warm("k2"));
}

// 50 000 names per second are 500 pages, however fast the server answers.
TEST_F(PatternSearchTest, TheServerIsNotAskedFasterThanItsRate) {
  begin(order());
  page("1", {});
  int pages = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    step(Millis(1));
    if (said().empty()) continue;
    ++pages;
    hear(page_of("1", {}));
  }
  EXPECT_NEAR(pages, 500, 60);
}

TEST_F(PatternSearchTest, WhatTheServerRefusesIsSaid) {
  begin(order());
  step();
  hear(":1\r\n-NOPERM this user has no permissions to run the 'scan' command\r\n");
  step();
  EXPECT_EQ(report().state, State::kFailed);
  EXPECT_THAT(report().note, HasSubstr("refuses SCAN: NOPERM"));
}

TEST_F(PatternSearchTest, NonsenseIsNoPage) {
  for (const char* reply : {":1\r\n", "*0\r\n", "*2\r\n$1\r\n0\r\n*1\r\n:1\r\n"}) {
    begin(order());
    step();
    hear(std::string(":1\r\n") + reply);
    step();
    EXPECT_EQ(report().state, State::kFailed) << reply;
  }
}

TEST_F(PatternSearchTest, ALostConnectionBeginsThePassAnewAndNoKeyTwice) {
  begin(order(2));
  page("5", {"k1", "k2", "k3"});
  search_->protocol().disconnected("gone");
  step();
  EXPECT_EQ(report().state, State::kSearching);
  connect();
  step();
  EXPECT_THAT(said(), HasSubstr("SCAN\r\n$1\r\n0\r\n"));
  hear(":3\r\n" + page_of("0", {"k1", "k2", "k3"}));
  step();
  EXPECT_EQ(report().state, State::kFinished);
  EXPECT_EQ(report().found, 3U);
  EXPECT_EQ(report().left_out, 1U);
}

TEST_F(PatternSearchTest, WithoutAServerItFailsAndAWindowTriesAgain) {
  for (const std::uint32_t source : {Warmer::kByHand, 1U}) {
    make(order(100, source));
    search_->begin(now_);
    search_->protocol().disconnected("nobody listens");
    step(PatternSearch::kUpWithin);
    EXPECT_TRUE(search_->searching());
    step();
    EXPECT_FALSE(search_->searching());
    EXPECT_THAT(report().note, HasSubstr("nobody listens"));
    EXPECT_EQ(search_->over(), source == Warmer::kByHand);
    EXPECT_EQ(search_->is_due(now_ + PatternSearch::kRetryInterval), source == 1U);
  }
}

TEST_F(PatternSearchTest, ItLooksAgainForKeysThatAreNew) {
  PatternSearch::Order what = order(100, 1);
  what.again_after = std::chrono::minutes(1);
  begin(what);
  page("0", {"k1"});
  EXPECT_EQ(report().state, State::kWaiting);
  EXPECT_FALSE(search_->is_due(now_ + std::chrono::seconds(59)));
  ASSERT_TRUE(search_->is_due(now_ + std::chrono::minutes(1)));
  warmer_.end({"k1", 0});
  search_->begin(now_);
  connect();
  page("0", {"k1", "k2"});
  EXPECT_TRUE(warm("k2"));
  EXPECT_FALSE(warm("k1")) << "somebody has ended it by hand";
}

TEST_F(PatternSearchTest, WhatItHasWarmedStaysSoWhenItIsEnded) {
  begin(order());
  page("5", {"k1"});
  search_->end("it was ended on request");
  step();
  EXPECT_EQ(report().state, State::kEnded);
  EXPECT_TRUE(warm("k1"));
  EXPECT_EQ(search_->keys(warmer_).size(), 1U);
}

TEST_F(PatternSearchTest, ItsTimeIsOver) {
  begin(order());
  step(std::chrono::hours(2));
  EXPECT_EQ(report().state, State::kEnded);
}

}  // namespace
}  // namespace heatsink::copies
