// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/window_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "heatsink/client/source_for_test.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WindowStatsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed";
  }
  ClientOptions options() const {
    ClientOptions options;
    options.server_url = "unix://" + server_.socket_path();
    options.server_response_timeout = kPatience;
    options.statistics_length = std::chrono::hours(1);
    options.statistics_hold = kPatience;
    return options;
  }

  resp::testing::RedisProcess server_;
};

TEST_F(WindowStatsTest, TellsWhatTwoHaveAdded) {
  const WindowStats one(options()), other(options());
  const auto series = one.series("checkout");
  ASSERT_TRUE(series.has_value());
  for (int i = 1; i <= 50; ++i) series->add(i);
  for (int i = 51; i <= 100; ++i) EXPECT_TRUE(other.add("checkout", i));
  one.flush(kPatience);
  other.flush(kPatience);
  const auto reading = one.read("checkout");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->count, 100U);
  EXPECT_EQ(reading->sum, 5050);
  EXPECT_DOUBLE_EQ(reading->mean, 50.5);
  EXPECT_EQ(reading->min, 1);
  EXPECT_EQ(reading->max, 100);
  EXPECT_EQ(reading->p50, 50);
  EXPECT_NEAR(static_cast<double>(reading->p99), 99, 1.6);
  EXPECT_EQ(reading->length, std::chrono::hours(1));
  EXPECT_EQ(reading->slot, std::chrono::minutes(1));
  EXPECT_EQ(reading->shards_missing, 0U);
  EXPECT_THAT(one.list("check*"), ElementsAre("checkout"));
  EXPECT_EQ(one.counts().delivered, 50U);
  EXPECT_EQ(one.counts().names, 1U);
  EXPECT_EQ(one.problem(), "");
}

TEST_F(WindowStatsTest, WhatNobodyWroteIsNothing) {
  const WindowStats stats(options());
  EXPECT_FALSE(stats.read("none").has_value());
  EXPECT_THAT(stats.list(), ElementsAre());
}

TEST_F(WindowStatsTest, CloseDeliversAndEnds) {
  const WindowStats stats(options());
  stats.add("a", 1);
  stats.close();
  stats.close();
  stats.add("a", 2);
  EXPECT_THROW(static_cast<void>(stats.read("a")), ServerUnavailable);
  const WindowStats other(options());
  EXPECT_EQ(other.read("a")->sum, 1);
}

TEST(WindowStats, NeedsAServer) {
  EXPECT_THROW(WindowStats(ClientOptions{}), std::invalid_argument);
  ClientOptions wrong;
  wrong.server_url = "http://nonsense";
  EXPECT_THROW(WindowStats{wrong}, std::invalid_argument);
}

TEST(WindowStats, SaysThatTheServerIsNotThere) {
  ClientOptions options;
  options.server_url = "unix:///nonexistent/heatsink.sock";
  const WindowStats stats(options);
  EXPECT_TRUE(stats.add("a", 1));
  EXPECT_THROW(stats.flush(Millis(1)), ServerUnavailable);
  try {
    static_cast<void>(stats.read("a"));
    FAIL();
  } catch (const ServerUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/heatsink.sock"));
  }
}

TEST(WindowStats, NumbersAreNotHeldLongerThanTheirFlushIsKnown) {
  ClientOptions options;
  options.statistics_hold = std::chrono::seconds(31);
  EXPECT_THAT(options.check().error().message, HasSubstr("statistics.hold"));
}

}  // namespace
}  // namespace heatsink::client
