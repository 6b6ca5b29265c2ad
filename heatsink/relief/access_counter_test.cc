// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/access_counter.h"

#include <gtest/gtest.h>

#include "heatsink/policy/rules.h"

namespace heatsink::proxy {
namespace {

class AccessCounterTest : public ::testing::Test {
 protected:
  AccessCounterTest() {
    options.workers = 1;
    options.hot_qps = 100;  // urgent at 25 % of 1000 accesses
  }
  void count(AccessCounter& counter, int times, TimePoint now) const {
    for (int i = 0; i < times; ++i) counter.record({.hash = KeyHash{7}, .key = "k"}, now);
  }

  policy::ProxyOptions options;
  ClientNames clients;
  const TimePoint start{std::chrono::seconds(1000)};
};

TEST_F(AccessCounterTest, UrgentOnceAKeyHasItsPartOfABurst) {
  AccessCounter counter(options, policy::rule_set(options).value(), clients, 1);
  count(counter, 249, start);
  EXPECT_FALSE(counter.take_urgent(start));
  count(counter, 1, start);
  EXPECT_TRUE(counter.take_urgent(start));
  EXPECT_FALSE(counter.take_urgent(start)) << "only once";
}

TEST_F(AccessCounterTest, UrgentSummariesHaveAPause) {
  AccessCounter counter(options, policy::rule_set(options).value(), clients, 1);
  count(counter, 250, start);
  EXPECT_TRUE(counter.take_urgent(start));
  count(counter, 250, start);
  const TimePoint early = start + AccessCounter::kUrgentPause - Nanos(1);
  EXPECT_FALSE(counter.take_urgent(early));
  EXPECT_TRUE(counter.waits());
  EXPECT_TRUE(counter.take_urgent(start + AccessCounter::kUrgentPause));
  EXPECT_FALSE(counter.waits());
}

TEST_F(AccessCounterTest, SummariesLeaveOutWhatCannotBeWarm) {
  options.warm_qps = 50;
  AccessCounter counter(options, policy::rule_set(options).value(), clients, 1);
  count(counter, 20, start);
  EXPECT_TRUE(counter.summarize(start).at(0).keys.empty());
  EXPECT_EQ(counter.summarize(start).at(0).requests, 20u);
  count(counter, 480, start);
  EXPECT_EQ(counter.summarize(start).at(0).keys.size(), 1u);
}

TEST_F(AccessCounterTest, RepliesAreRememberedOnlyWhereBytesAreJudged) {
  EXPECT_EQ(AccessCounter(options, policy::rule_set(options).value(), clients, 1).reply_sizes(),
            nullptr);
  options.dimension = detect::Dimension::kBytes;
  EXPECT_NE(AccessCounter(options, policy::rule_set(options).value(), clients, 1).reply_sizes(),
            nullptr);
}

}  // namespace
}  // namespace heatsink::proxy
