// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_queries.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "heatsink/copies/keeper_parts_for_test.h"

namespace heatsink::copies {
namespace {

// The loop runs in a thread of its own, as the keeper's does. There is no server.
class KeeperQueriesTest : public testing::Test {
 protected:
  KeeperQueriesTest() : thread_([this] { parts_.loop.run(); }) {}
  ~KeeperQueriesTest() override {
    parts_.loop.stop();
    thread_.join();
  }
  report::WarmReport warm(const std::string& name) {
    report::WarmOrder order;
    order.keys = {{name, 0}};
    order.lasts = std::chrono::hours(1);
    return queries_.warm(order);
  }

  KeeperPartsForTest parts_;
  CopyOrders orders_{parts_.shared, parts_.hot_keys, parts_.admission, parts_.events};
  KeeperRest rest_{parts_.shared, parts_.loop, at(0)};
  KeeperQueries queries_{{parts_.shared, parts_.loop, rest_, parts_.warming, parts_.report,
                          parts_.hot_keys, parts_.admission, orders_}};

 private:
  std::thread thread_;
};

TEST_F(KeeperQueriesTest, TheReportIsTheKeepers) {
  const report::Report report = queries_.report();
  EXPECT_TRUE(report.is_answered);
  EXPECT_EQ(report.upstream, "127.0.0.1:7001");
  EXPECT_EQ(report.quiet, "no key is hot");
}

TEST_F(KeeperQueriesTest, AnOrderIsAnsweredAndListed) {
  const report::WarmReport begun = warm("a");
  ASSERT_EQ(begun.keys.size(), 1U) << begun.problem;
  EXPECT_EQ(begun.keys.front().outcome, report::WarmOutcome::kLoading);
  ASSERT_EQ(queries_.warmed().keys.size(), 1U);
  EXPECT_EQ(queries_.warmed().keys.front().key.name, "a");
  EXPECT_NE(queries_.warmed(99).problem, "") << "a search that does not exist";
}

TEST_F(KeeperQueriesTest, KeysOfOrdersGoToTheNextProcessWithTheirTime) {
  EXPECT_TRUE(queries_.hot_names(10).empty());
  warm("a");
  const std::vector<LastingKey> names = queries_.hot_names(10);
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names.front().key.name, "a");
  EXPECT_GT(names.front().lasts, std::chrono::minutes(59));
  EXPECT_TRUE(queries_.hot_names(0).empty());
}

TEST_F(KeeperQueriesTest, NothingIsLearnedWithoutTraffic) {
  EXPECT_FALSE(queries_.learned().server_scale.has_value());
}

}  // namespace
}  // namespace heatsink::copies
