// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warming.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/warming_options_for_test.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;
using report::WarmOutcome;
using Kind = detect::Change::Kind;

constexpr std::int64_t kCopies = 8;

// The test plays the keeper: it gets the fills, and answers them.
class WarmingTest : public testing::Test, private Warming::Owner {
 protected:
  WarmingTest() { shared_.proof.set_up(true); }

  void order(std::vector<std::string> names, int lasts_ms, bool ends = false) {
    report::WarmOrder order;
    for (std::string& name : names) order.keys.push_back({std::move(name), 0});
    order.lasts = Millis(lasts_ms);
    order.ends = ends;
    warming_.order(std::move(order), at(now_ms_),
                   [this](report::WarmReport report) { answer_ = std::move(report); });
  }
  void tick(int ms) {
    now_ms_ = ms;
    warming_.tick(at(ms));
  }
  void fill(FillOutcome outcome) {
    for (const FillRequest& each : std::exchange(loads_, {}))
      warming_.filled(each, outcome, at(now_ms_), "");
  }
  KeyHash hash_of(const std::string& name) const { return warming_.warmer().hash_of({name, 0}); }
  std::optional<WarmOutcome> outcome(std::size_t i = 0) const {
    return answer_ ? std::optional(answer_->keys.at(i).outcome) : std::nullopt;
  }

  NodeState shared_{warming_options(kCopies), net::RedisUrl{}, 1};
  net::EventLoop loop_;  // never runs
  std::vector<FillRequest> loads_;
  int sends_ = 0;
  std::vector<detect::Change> changes_;
  std::optional<report::WarmReport> answer_;
  std::vector<KeyHash> hot_;
  int now_ms_ = 0;
  Warming warming_{shared_, loop_, *this};

 private:
  void load(FillRequest request) override { loads_.push_back(std::move(request)); }
  void send_loads() override { ++sends_; }
  void note_warmed(std::vector<detect::Change> changes, TimePoint) override {
    changes_.insert(changes_.end(), changes.begin(), changes.end());
  }
  bool is_hot_by_rate(KeyHash key) const override {
    return std::find(hot_.begin(), hot_.end(), key) != hot_.end();
  }
  std::string coherence() const override { return "the server is away"; }
};

TEST_F(WarmingTest, AnOrderIsAnsweredWhenItsKeyIsLoaded) {
  EXPECT_FALSE(warming_.has_work());
  order({"a"}, 60'000);
  ASSERT_EQ(loads_.size(), 1U);
  EXPECT_EQ(loads_.front().key, "a");
  EXPECT_EQ(sends_, 1);
  EXPECT_FALSE(answer_.has_value());
  EXPECT_TRUE(warming_.has_work());
  fill(FillOutcome::kKept);
  EXPECT_EQ(outcome(), WarmOutcome::kLoaded);
  ASSERT_EQ(changes_.size(), 1U);
  EXPECT_EQ(changes_.front().kind, Kind::kPromote);
  EXPECT_EQ(changes_.front().verdict.reason.rfind("warmed until ", 0), 0U);
}

TEST_F(WarmingTest, WithoutAnAnswerOfTheServerTheOrderIsAnsweredInTime) {
  order({"a"}, 60'000);
  tick(1400);
  EXPECT_FALSE(answer_.has_value());
  tick(1500);
  EXPECT_EQ(outcome(), WarmOutcome::kLoading);
}

TEST_F(WarmingTest, WhileTheServerIsAwayTheOrderIsAnsweredAtOnce) {
  shared_.proof.set_up(false);
  order({"a"}, 60'000);
  ASSERT_EQ(outcome(), WarmOutcome::kLoading);
  EXPECT_EQ(answer_->keys.front().note, "no local copies at the moment: the server is away");
}

TEST_F(WarmingTest, AKeyWithoutCopiesIsRefused) {
  order({"off:a", "b"}, 60'000);
  fill(FillOutcome::kKept);
  EXPECT_EQ(outcome(0), WarmOutcome::kRefused);
  EXPECT_NE(answer_->keys.front().note, "");
  EXPECT_EQ(outcome(1), WarmOutcome::kLoaded);
}

TEST_F(WarmingTest, AnOrderLearnsWhyItsKeyWasReleasedMeanwhile) {
  order({"a"}, 60'000);
  for (const FillRequest& each : std::exchange(loads_, {}))
    warming_.filled(each, FillOutcome::kTableFull, at(0), "the table is full");
  EXPECT_EQ(outcome(), WarmOutcome::kRefused);
  EXPECT_EQ(answer_->keys.front().note, "the table is full");
  EXPECT_FALSE(warming_.has_work());
}

TEST_F(WarmingTest, WhenItsTimeIsOverTheKeyLosesItsEntry) {
  order({"a"}, 5'000);
  fill(FillOutcome::kKept);
  ASSERT_NE(shared_.table.entry(hash_of("a")), nullptr);
  tick(5'000);
  EXPECT_EQ(shared_.table.entry(hash_of("a")), nullptr);
  ASSERT_EQ(changes_.size(), 2U);
  EXPECT_EQ(changes_.back().kind, Kind::kDemote);
}

TEST_F(WarmingTest, AKeyThatIsHotByItsRateStaysAndMakesNoEvent) {
  hot_ = {hash_of("a")};
  order({"a"}, 5'000);
  fill(FillOutcome::kKept);
  tick(5'000);
  EXPECT_NE(shared_.table.entry(hash_of("a")), nullptr);
  EXPECT_TRUE(changes_.empty());
}

TEST_F(WarmingTest, AnOrderEndsTheWarmingOfItsKeys) {
  order({"a"}, 60'000);
  fill(FillOutcome::kKept);
  answer_.reset();
  order({"a", "b"}, 0, true);
  EXPECT_EQ(outcome(0), WarmOutcome::kEnded);
  EXPECT_EQ(outcome(1), WarmOutcome::kNotWarmed);
  EXPECT_EQ(shared_.table.entry(hash_of("a")), nullptr);
}

TEST_F(WarmingTest, AnOrderWithAPatternBeginsASearchAndEndsIt) {
  report::WarmOrder search;
  search.pattern = report::WarmPattern{.glob = "k*"};
  search.lasts = Millis(60'000);
  warming_.order(search, at(0), [this](const report::WarmReport& report) { answer_ = report; });
  ASSERT_TRUE(answer_.has_value());
  ASSERT_EQ(answer_->searches.size(), 1U);
  const std::uint64_t id = answer_->searches.front().id;
  EXPECT_EQ(warming_.report(id, at(0)).searches.size(), 1U);
  search.ends = true;
  warming_.order(search, at(0), [](const report::WarmReport&) {});
  EXPECT_TRUE(warming_.report(id, at(0)).searches.front().state ==
              report::WarmSearch::State::kEnded);
  EXPECT_NE(warming_.report(id + 1, at(0)).problem, "") << "it does not exist";
}

TEST_F(WarmingTest, InheritedKeysLastAsLongAsTheirOrdersOrAWhile) {
  const std::vector<LastingKey> keys{{{"ordered", 0}, Millis(60'000)}, {{"hot", 0}, Nanos(0)}};
  warming_.inherit(keys, Millis(5'000), at(0));
  EXPECT_EQ(loads_.size(), 2U);
  fill(FillOutcome::kKept);
  tick(5'000);
  EXPECT_TRUE(warming_.warmer().holds(hash_of("ordered")));
  EXPECT_FALSE(warming_.warmer().holds(hash_of("hot")));
  const std::vector<LastingKey> left = warming_.lasting_keys(10, at(5'000));
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().key.name, "ordered");
  EXPECT_EQ(left.front().lasts, Millis(55'000));
  EXPECT_TRUE(warming_.lasting_keys(0, at(5'000)).empty());
}

TEST_F(WarmingTest, TheReportListsTheKeysByName) {
  order({"b", "a"}, 60'000);
  const report::WarmReport report = warming_.report(0, at(0));
  ASSERT_EQ(report.keys.size(), 2U);
  EXPECT_EQ(report.keys.front().key.name, "a");
}

TEST_F(WarmingTest, AWarmedKeyIsHotForPeopleWithItsOwnRate) {
  order({"a"}, 60'000);
  const detect::Verdict without = warming_.verdict_of(hash_of("a"), at(0));
  EXPECT_EQ(without.temperature, Temperature::kHot);
  EXPECT_EQ(without.count.key, "a");
  detect::Verdict warm;
  warm.count.hash = hash_of("a");
  warm.temperature = Temperature::kWarm;
  warm.rate = 7;
  EXPECT_EQ(warming_.as_warmed(warm, at(0)).temperature, Temperature::kHot);
  EXPECT_DOUBLE_EQ(warming_.as_warmed(warm, at(0)).rate, 7);
  warm.temperature = Temperature::kHot;
  warm.reason = "9/s";
  EXPECT_EQ(warming_.as_warmed(warm, at(0)).reason.rfind("9/s; warmed until ", 0), 0U);
}

TEST_F(WarmingTest, OptionsWithoutCopiesEndTheWarming) {
  order({"a"}, 60'000);
  fill(FillOutcome::kKept);
  policy::ProxyOptions next = warming_options(kCopies);
  next.rules.back().match = "*";
  const auto before = shared_.held();
  shared_.publish(std::make_shared<const PolicySnapshot>(next, redis::Credentials{}, shared_.shown,
                                                         before.get()));
  warming_.follow_options(before->options, at(0));
  warming_.record_changes(at(0));
  EXPECT_FALSE(warming_.has_work());
  ASSERT_EQ(changes_.size(), 2U);
  EXPECT_EQ(changes_.back().kind, Kind::kDemote);
}

TEST_F(WarmingTest, NewWindowsBeginAtOnce) {
  policy::ProxyOptions next = warming_options(kCopies);
  next.warming.resize(2);  // one of them is open, whatever the time
  next.warming[0].key = next.warming[1].key = "w";
  next.warming[0].from = next.warming[1].until = "00:00";
  next.warming[0].until = next.warming[1].from = "12:00";
  const auto before = shared_.held();
  shared_.publish(std::make_shared<const PolicySnapshot>(next, redis::Credentials{}, shared_.shown,
                                                         before.get()));
  warming_.follow_options(before->options, at(0));
  EXPECT_TRUE(warming_.warmer().holds(hash_of("w")));
}

}  // namespace
}  // namespace heatsink::copies
