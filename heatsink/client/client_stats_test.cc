// SPDX-License-Identifier: Apache-2.0
// The statistics of a client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "heatsink/client/client.h"
#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::HasSubstr;

TEST(ClientStats, TellsEachIntervalHowItIs) {
  ClientOptions options = eager();
  options.report_interval = Millis(20);
  std::atomic<int> reports{0};
  std::atomic<std::uint64_t> reads{0};
  Stage stage(options);
  stage.client.on_report([&](const Stats& stats) {
    reads = stats.reads;
    ++reports;
  });
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    return reports > 2 && reads > 0;
  }));
  EXPECT_THAT(stage.client.metrics_text(), HasSubstr("\nheatsink_cache_entries "));
}

TEST(ClientStats, TellsTotalsAndTheLastWindow) {
  Stage stage(eager());
  stage.source.write("a", "1");
  stage.warm_up("a");
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    const Stats stats = stage.client.stats();
    return stats.hits > 0 && stats.in_window.hits > 0 && stats.in_window.loads == 1;
  }));
  EXPECT_TRUE(eventually([&] { return stage.client.stats().in_window.loads == 0; }));
  EXPECT_EQ(stage.client.stats().loads, 1U);
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    stage.get("b");
    return stage.client.stats().distinct_keys > 1.9;
  }));
  EXPECT_LT(stage.client.stats().distinct_keys, 2.1);
}

TEST(ClientStats, CountsReadsHitsAndHotTraffic) {
  Stage stage(eager());
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    const Stats stats = stage.client.stats();
    return stats.hit_ratio > 0.5 && stats.hot_share > 0.5 && stats.reads_per_second > 10;
  }));
}

}  // namespace
}  // namespace heatsink::client
