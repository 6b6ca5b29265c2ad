// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fleet_counts.h"

#include <gtest/gtest.h>

#include <memory>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

policy::ProxyOptions fleet_options(std::int64_t size) {
  policy::ProxyOptions options;
  options.hot_qps = 900;
  options.fleet_size = size;
  return options;
}

class FleetCountsTest : public testing::Test {
 protected:
  static fleet::List list_of(std::uint64_t instances) {
    auto list = std::make_shared<fleet::Message>();
    list->instances = instances;
    detect::Summary window;
    window.window = window.covered = shared_window();
    window.covers_window = true;
    window.requests = window.reads = 100;
    list->windows = {window};
    return list;
  }
  static Nanos shared_window() { return fleet_options(1).window; }
  static double hot(const detect::SelectorOptions& options) {
    return options.rules.rules().front().hot;
  }

  NodeState shared_{fleet_options(1), net::RedisUrl{}, 1};
  FleetCounts fleet_{shared_};
};

TEST_F(FleetCountsTest, WithoutAFleetThereIsNothingToFollow) {
  EXPECT_FALSE(fleet_.follow(at(0)).has_value());
  EXPECT_FALSE(fleet_.report(at(0)).has_value());
  EXPECT_TRUE(fleet_.windows().empty());
  EXPECT_EQ(shared_.fleet_instances, 1U);
}

TEST_F(FleetCountsTest, AListIsJudgedByWholeThresholds) {
  EXPECT_FALSE(fleet_.take(list_of(3), 3).has_value()) << "they were whole before";
  ASSERT_EQ(fleet_.windows().size(), 1U);
  EXPECT_EQ(fleet_.windows().front().counts.requests, 100U);
  EXPECT_EQ(fleet_.windows().front().instances, 3U);
  EXPECT_EQ(shared_.fleet_instances, fleet::rounded_instances(3));
}

TEST_F(FleetCountsTest, WithoutTheListEachProxyHasItsPartOfTheThresholds) {
  static_cast<void>(fleet_.take(list_of(3), 3));
  const auto alone = fleet_.take(nullptr, 3);
  ASSERT_TRUE(alone.has_value());
  EXPECT_DOUBLE_EQ(hot(*alone), 300);
  EXPECT_TRUE(fleet_.windows().empty());
  EXPECT_FALSE(fleet_.take(nullptr, 3).has_value()) << "they are divided already";
  const auto together = fleet_.take(list_of(3), 3);
  ASSERT_TRUE(together.has_value());
  EXPECT_DOUBLE_EQ(hot(*together), 900);
}

TEST_F(FleetCountsTest, BeforeTheFirstListTheConfiguredNumberDivides) {
  shared_.publish(std::make_shared<const PolicySnapshot>(fleet_options(2), redis::Credentials{},
                                                         shared_.shown, shared_.held().get()));
  fleet_.follow_options();
  EXPECT_FALSE(fleet_.take(nullptr, 1).has_value()) << "the selector has these options";
  const auto together = fleet_.take(list_of(2), 2);
  ASSERT_TRUE(together.has_value());
  EXPECT_DOUBLE_EQ(hot(*together), 900);
}

TEST_F(FleetCountsTest, OtherOptionsForgetTheListUntilTheNextOne) {
  const fleet::List list = list_of(3);
  static_cast<void>(fleet_.take(list, 3));
  fleet_.follow_options();
  EXPECT_TRUE(fleet_.windows().empty());
  static_cast<void>(fleet_.take(list, 3));
  EXPECT_EQ(fleet_.windows().size(), 1U);
}

}  // namespace
}  // namespace heatsink::copies
