// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/refresher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kLife = std::chrono::seconds(10);

policy::ProxyOptions refresher_options() {
  policy::ProxyOptions options;
  options.rules.emplace_back();
  options.rules.back().match = "plain:*";
  options.rules.back().refresh = policy::Refresh::kOff;
  return options;
}

// "k" is hot. Its copies live for kLife, so they are renewed 6 to 8 s after their fill.
class RefresherTest : public testing::Test {
 protected:
  RefresherTest() { promote("k"); }

  KeyHash hash_of(const std::string& key) const { return in_db(hash_name(key, shared_.seed), 0); }
  void promote(const std::string& key) {
    shared_.table.promote(key, 0, hash_of(key), hash_name(key, shared_.seed), TimePoint{});
  }

  void fill(const std::string& key, Nanos sent, bool is_read = true,
            TimePoint value_ends = TimePoint::max()) {
    auto copy = std::make_unique<cache::Copy>();
    copy->fill_sent_at = at(sent);
    copy->deadline = std::min(at(sent) + kLife, value_ends);
    copy->value_ends = value_ends;
    copy->reply = "$1\r\nv\r\n";
    if (is_read) copy->mark_read();
    ASSERT_TRUE(shared_.table.insert(hash_of(key), std::move(copy)));
  }

  std::size_t due(Nanos now) {
    last_ = refresher_.due(at(now));
    return last_.size();
  }
  void end(FillOutcome outcome, Nanos now) {
    for (const FillRequest& asked : std::exchange(last_, {}))
      refresher_.filled(asked, outcome, at(now));
  }
  std::uint64_t count(Count which) const { return counters_.read(which); }

  NodeState shared_{refresher_options(), *net::parse_redis_url("redis://127.0.0.1:6379"), 1};
  Counters counters_;
  Refresher refresher_{shared_, counters_};
  std::vector<FillRequest> last_;
};

TEST_F(RefresherTest, ACopyOfAKeyThatIsNotHotIsLeftToItsNextReader) {
  shared_.table.release(hash_of("k"));
  fill("k", Millis(0));
  EXPECT_EQ(due(Millis(9'900)), 0u);
  ASSERT_TRUE(shared_.table.hold(hash_of("k")));
  EXPECT_EQ(due(Millis(9'900)), 1u);
}

TEST_F(RefresherTest, AskedForAheadOfItsEndAndOnce) {
  fill("k", Millis(0));
  EXPECT_EQ(due(Millis(5'999)), 0);
  ASSERT_EQ(due(Millis(8'000)), 1);
  EXPECT_EQ(last_.front().key, "k");
  EXPECT_EQ(last_.front().worker, FillRequest::kNoWorker);
  const std::vector<FillRequest> asked = last_;
  EXPECT_EQ(due(Millis(8'050)), 0) << "it is under way";
  last_ = asked;
  fill("k", Millis(8'000));
  end(FillOutcome::kKept, Millis(8'060));
  EXPECT_EQ(due(Millis(8'100)), 0);
  EXPECT_EQ(due(Millis(16'000)), 1);
  EXPECT_EQ(count(Count::kRefreshes), 2);
  EXPECT_EQ(count(Count::kRefreshesFailed), 0);
}

TEST_F(RefresherTest, WhatNobodyReadsIsLeftToEnd) {
  fill("k", Millis(0), false);
  EXPECT_EQ(due(Millis(9'000)), 0);
}

TEST_F(RefresherTest, WhatTheServerEndsIsNotAskedForEarlier) {
  fill("k", Millis(0), true, at(Millis(9'000)));
  EXPECT_EQ(due(Millis(8'999)), 0);
}

// A renewal extends the copy to the end of the value's own TTL.
TEST_F(RefresherTest, WhatOutlivesItsCopyIs) {
  fill("k", Millis(0), true, at(Millis(12'000)));
  EXPECT_EQ(due(Millis(8'000)), 1);
}

TEST_F(RefresherTest, NotWhereTheRuleSaysOff) {
  promote("plain:1");
  fill("plain:1", Millis(0));
  EXPECT_EQ(due(Millis(9'000)), 0);
}

TEST_F(RefresherTest, NotAfterItsEnd) {
  fill("k", Millis(0));
  EXPECT_EQ(due(Millis(10'000)), 0);
}

TEST_F(RefresherTest, NotBehindWhatWasWritten) {
  fill("k", Millis(0));
  shared_.fences.raise(hash_name("k", shared_.seed), at(Millis(7'000)));
  ASSERT_EQ(due(Millis(8'000)), 1);
  EXPECT_EQ(last_.front().fence, at(Millis(7'000)));
}

TEST_F(RefresherTest, GivenUpAfterThreeFailures) {
  fill("k", Millis(0));
  Nanos now = Millis(8'000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(due(now), 1) << i;
    end(FillOutcome::kFailed, now);
    EXPECT_EQ(due(now), 0) << "not at once again";
    now += Millis(200);
  }
  EXPECT_EQ(due(now), 0);
  EXPECT_EQ(count(Count::kRefreshesFailed), 3);
  EXPECT_EQ(count(Count::kRefreshesGivenUp), 1);
}

TEST_F(RefresherTest, AnotherCopyBeginsAnew) {
  fill("k", Millis(0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(due(Millis(8'000 + 200 * i)), 1);
    end(FillOutcome::kRefused, Millis(8'000 + 200 * i));
  }
  fill("k", Millis(8'900));  // a reader requested this fill
  EXPECT_EQ(due(Millis(9'000)), 0);
  EXPECT_EQ(due(Millis(16'900)), 1);
}

TEST_F(RefresherTest, AFillThatSomebodyElseAskedForIsNoFailure) {
  refresher_.filled({0, hash_of("k"), "k", 0, at(Millis(0))}, FillOutcome::kFailed, at(Millis(1)));
  EXPECT_EQ(count(Count::kRefreshesFailed), 0);
}

TEST_F(RefresherTest, WhatWasFilledTogetherIsNotRenewedTogether) {
  for (int i = 0; i < 200; ++i) {
    promote("key:" + std::to_string(i));
    fill("key:" + std::to_string(i), Millis(0));
  }
  std::vector<TimePoint> times;
  shared_.table.for_each_copy([&](const cache::Entry& entry, const cache::Copy& copy) {
    times.push_back(renewal_of(copy, hash_read(entry.hash(), cache::Read{}), 0.2));
  });
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  EXPECT_GE(*first, at(Millis(6'000)));
  EXPECT_LE(*last, at(Millis(8'000)));
  EXPECT_GT(*last - *first, Millis(1'500));
}

TEST_F(RefresherTest, SoManyAtOnceAndNoMore) {
  for (int i = 0; i < 100; ++i) {
    promote("key:" + std::to_string(i));
    fill("key:" + std::to_string(i), Millis(0));
  }
  EXPECT_EQ(due(Millis(8'000)), Refresher::kUnderWayMax);
  EXPECT_EQ(due(Millis(8'000)), 0);
}

}  // namespace
}  // namespace heatsink::copies
