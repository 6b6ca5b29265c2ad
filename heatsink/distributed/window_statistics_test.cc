// SPDX-License-Identifier: Apache-2.0
// Many writers and a server: a reader gets the sum of what they added.
#include "heatsink/distributed/window_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/distributed/statistic_key.h"
#include "heatsink/distributed/statistic_reading.h"
#include "heatsink/distributed/times_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TimePoint patience() { return BootClock::now() + kPatience; }

class WindowStatisticsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_.running()) GTEST_SKIP() << "redis-server is not installed";
    server_ = open(redis_.socket_path());
  }
  static std::unique_ptr<Server> open(const std::string& socket) {
    ServerOptions options;
    options.url = "unix://" + socket;
    options.response_timeout = kPatience;
    options.backoff_max = Millis(20);
    return std::move(Server::open(options)).value();
  }
  // Kept for an hour, so that no test is slow enough to see a number leave.
  static WindowStatisticsOptions options(std::uint64_t seed) {
    WindowStatisticsOptions options;
    options.length = std::chrono::hours(1);
    options.flush_interval = Millis(1);
    options.hold = kPatience;
    options.seed = seed;
    return options;
  }
  Result<StatisticReading> read(const std::string& name) {
    return read_statistic(*server_, name, std::chrono::hours(1), patience());
  }
  std::string ask(std::initializer_list<std::string_view> args) const { return redis_.ask(args); }

  resp::testing::RedisProcess redis_;
  std::unique_ptr<Server> server_;
};

TEST_F(WindowStatisticsTest, WhatIsAddedIsRead) {
  WindowStatistics stats(*server_, options(1));
  for (int i = 1; i <= 100; ++i) EXPECT_TRUE(stats.add("checkout", i));
  ASSERT_TRUE(stats.flush(patience()).ok());
  const auto reading = read("checkout");
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_EQ(reading->summary.count, 100U);
  EXPECT_EQ(reading->summary.sum, 5050);
  EXPECT_EQ(reading->summary.min, 1);
  EXPECT_EQ(reading->summary.max, 100);
  EXPECT_EQ(reading->length, Millis(3'600'000));
  EXPECT_EQ(reading->slot, Millis(60'000));
  EXPECT_EQ(reading->shards_missing, 0U);
  EXPECT_EQ(stats.counts().delivered, 100U);
  EXPECT_EQ(stats.problem(), "");
}

TEST_F(WindowStatisticsTest, NobodyHasWrittenIt) {
  const auto reading = read("none");
  ASSERT_FALSE(reading.ok());
  EXPECT_EQ(reading.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(reading.error().message, HasSubstr("\"none\""));
}

TEST_F(WindowStatisticsTest, ManyWritersAndThreadsAddUp) {
  constexpr int kWriters = 8, kThreads = 2, kNumbers = 5000;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<WindowStatistics>> writers;
  for (std::uint64_t seed = 0; seed < kWriters; ++seed)
    writers.push_back(std::make_unique<WindowStatistics>(*server_, options(seed)));
  for (const auto& writer : writers)
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&stats = *writer] {
        const auto series = stats.series("all");
        for (int i = 0; i < kNumbers; ++i) {
          stats.add(*series, i);
          stats.add(i % 2 == 0 ? "even" : "odd", i);
        }
      });
  for (std::thread& each : threads) each.join();
  for (const auto& writer : writers) ASSERT_TRUE(writer->flush(patience()).ok());
  constexpr std::uint64_t kAll = std::uint64_t{kWriters} * kThreads * kNumbers;
  constexpr stats::Sum kSum = stats::Sum{kWriters} * kThreads * kNumbers * (kNumbers - 1) / 2;
  EXPECT_EQ(read("all")->summary.count, kAll);
  EXPECT_EQ(read("all")->summary.sum, kSum);
  EXPECT_EQ(read("even")->summary.count, kAll / 2);
  EXPECT_EQ(read("even")->summary.sum + read("odd")->summary.sum, kSum);
  const auto shards = ask({"KEYS", statistic_key_pattern("all")});
  EXPECT_THAT(shards, HasSubstr("*4\r\n"));
}

TEST_F(WindowStatisticsTest, TheEndDeliversWhatIsThere) {
  { WindowStatistics(*server_, options(1)).add("last", 5); }
  EXPECT_EQ(read("last")->summary.sum, 5);
}

TEST_F(WindowStatisticsTest, NamesAreBounded) {
  WindowStatisticsOptions few = options(1);
  few.names_max = 2;
  WindowStatistics stats(*server_, few);
  EXPECT_TRUE(stats.add("a", 1));
  EXPECT_TRUE(stats.add("b", 1));
  EXPECT_FALSE(stats.add("c", 1));
  EXPECT_FALSE(stats.series("c").has_value());
  EXPECT_TRUE(stats.add("a", 1));
  EXPECT_FALSE(stats.add(std::string(kStatisticNameBytesMax + 1, 'x'), 1));
  EXPECT_EQ(stats.counts().refused, 3U);
  EXPECT_EQ(stats.counts().names, 2U);
}

TEST_F(WindowStatisticsTest, NamesAreAnyBytes) {
  const std::string name("a\0}{b\n\xff", 7);
  WindowStatistics stats(*server_, options(1));
  stats.add(name, 3);
  stats.add("other", 4);
  ASSERT_TRUE(stats.flush(patience()).ok());
  EXPECT_EQ(read(name)->summary.sum, 3);
  EXPECT_THAT(list_statistics(*server_, "*", patience()).value(), ElementsAre(name, "other"));
  EXPECT_THAT(list_statistics(*server_, "oth*", patience()).value(), ElementsAre("other"));
}

TEST_F(WindowStatisticsTest, AShardThatCannotBeReadIsMissing) {
  WindowStatistics stats(*server_, options(1));
  stats.add("a", 3);
  ASSERT_TRUE(stats.flush(patience()).ok());
  ask({"SET", statistic_key("a", 2), "no hash"});
  const auto reading = read("a");
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->summary.count, 1U);
  EXPECT_EQ(reading->shards_missing, 1U);
  EXPECT_THAT(reading->problem, HasSubstr("WRONGTYPE"));
}

TEST_F(WindowStatisticsTest, WithoutAServerNumbersAreHeldAndThenDropped) {
  const auto nobody = open("/nonexistent/heatsink.sock");
  WindowStatisticsOptions impatient = options(1);
  impatient.hold = Millis(1);
  WindowStatistics stats(*nobody, impatient);
  stats.add("a", 3);
  while (stats.counts().uncertain + stats.counts().dropped == 0) std::this_thread::yield();
  EXPECT_EQ(stats.counts().delivered, 0U);
  stats.add("a", 3);
  const Status flushed = stats.flush(BootClock::now());
  ASSERT_FALSE(flushed.ok());
  const auto reading = read_statistic(*nobody, "a", Millis(1000), BootClock::now());
  ASSERT_FALSE(reading.ok());
}

TEST_F(WindowStatisticsTest, TwoLengthsAreTold) {
  WindowStatistics stats(*server_, options(1));
  stats.add("a", 3);
  ASSERT_TRUE(stats.flush(patience()).ok());
  WindowStatisticsOptions other = options(5);
  other.length = std::chrono::hours(2);
  WindowStatistics wrong(*server_, other);
  wrong.add("a", 3);
  while (wrong.problem().empty()) std::this_thread::yield();
  EXPECT_THAT(wrong.problem(), HasSubstr("statistics.length"));
  EXPECT_EQ(read("a")->summary.count, 1U);
}

// Every shard's key is all that a call touches, so a cluster takes them.
TEST(WindowStatisticsCluster, EachCallIsOfOneSlot) {
  const resp::testing::RedisProcess node("--cluster-enabled", "yes");
  if (!node.running()) GTEST_SKIP() << "redis-server is not installed";
  const auto ask = [&](std::initializer_list<std::string_view> args) { return node.ask(args); };
  ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
  while (ask({"CLUSTER", "INFO"}).find("cluster_state:ok") == std::string::npos)
    std::this_thread::yield();
  ServerOptions how;
  how.url = "unix://" + node.socket_path();
  how.response_timeout = kPatience;
  const auto server = std::move(Server::open(how)).value();
  for (std::uint64_t seed = 0; seed < kStatisticShards; ++seed) {
    WindowStatisticsOptions options;
    options.length = std::chrono::hours(1);
    options.seed = seed;
    WindowStatistics stats(*server, options);
    stats.add("{tag}:checkout", 5);
    ASSERT_TRUE(stats.flush(patience()).ok());
  }
  const auto reading = read_statistic(*server, "{tag}:checkout", std::chrono::hours(1), patience());
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_EQ(reading->summary.sum, 5 * kStatisticShards);
  EXPECT_EQ(reading->shards_missing, 0U);
}

}  // namespace
}  // namespace heatsink::distributed
