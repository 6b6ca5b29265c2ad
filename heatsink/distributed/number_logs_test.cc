// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/number_logs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace heatsink::distributed {
namespace {

using Sums = std::map<NumberLogs::Series, stats::Summary>;

void collect_into(NumberLogs& logs, Sums& sums) {
  logs.collect([&](NumberLogs::Series series, const stats::Summary& numbers) {
    EXPECT_GT(numbers.count, 0U);
    sums[series].merge(numbers);
  });
}

TEST(NumberLogs, TellsEachNumberOnce) {
  NumberLogs logs;
  logs.add(0, 5);
  logs.add(7, -1);
  logs.add(0, 6);
  Sums sums;
  collect_into(logs, sums);
  collect_into(logs, sums);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].sum, 11);
  EXPECT_EQ(sums[0].count, 2U);
  EXPECT_EQ(sums[7].sum, -1);
}

TEST(NumberLogs, AFullLogLosesNothing) {
  NumberLogs logs;
  constexpr int kNumbers = 10'000;
  for (int i = 0; i < kNumbers; ++i) logs.add(static_cast<NumberLogs::Series>(i % 3), i);
  Sums sums;
  collect_into(logs, sums);
  EXPECT_EQ(sums[0].count + sums[1].count + sums[2].count, std::uint64_t{kNumbers});
  EXPECT_EQ(sums[0].sum + sums[1].sum + sums[2].sum, stats::Sum{kNumbers} * (kNumbers - 1) / 2);
}

TEST(NumberLogs, ThreadsThatEndedAreCounted) {
  NumberLogs logs;
  for (int i = 0; i < 3; ++i) std::thread([&] { logs.add(1, 10); }).join();
  Sums sums;
  collect_into(logs, sums);
  EXPECT_EQ(sums[1].count, 3U);
  collect_into(logs, sums);
  EXPECT_EQ(sums[1].count, 3U);
}

TEST(NumberLogs, AThreadMayOutliveMany) {
  for (int i = 0; i < 100; ++i) {
    auto logs = std::make_unique<NumberLogs>();
    logs->add(0, i);
    Sums sums;
    collect_into(*logs, sums);
    ASSERT_EQ(sums[0].sum, i);
  }
}

TEST(NumberLogs, TwoAtOnceInOneThread) {
  NumberLogs a, b;
  for (int i = 0; i < 10; ++i) {
    a.add(0, 1);
    b.add(0, 100);
  }
  Sums of_a, of_b;
  collect_into(a, of_a);
  collect_into(b, of_b);
  EXPECT_EQ(of_a[0].sum, 10);
  EXPECT_EQ(of_b[0].sum, 1000);
}

TEST(NumberLogs, KnowsWhatAThreadHasPutThere) {
  NumberLogs logs;
  logs.here().known().add("a", 3);
  logs.here().add(3, 10);
  EXPECT_EQ(logs.here().known().find("a"), 3U);
  std::thread([&] { EXPECT_EQ(logs.here().known().find("a"), KnownNames::kUnknown); }).join();
  Sums sums;
  collect_into(logs, sums);
  EXPECT_EQ(sums[3].sum, 10);
}

TEST(NumberLogs, NothingIsLostBetweenThreads) {
  NumberLogs logs;
  constexpr int kThreads = 4, kEach = 50'000;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) logs.add(static_cast<NumberLogs::Series>((i + t) % 2), i);
      --running;
    });
  Sums sums;
  while (running.load() != 0) collect_into(logs, sums);
  for (std::thread& each : threads) each.join();
  collect_into(logs, sums);
  EXPECT_EQ(sums[0].count + sums[1].count, std::uint64_t{kThreads} * kEach);
  EXPECT_EQ(sums[0].sum + sums[1].sum, stats::Sum{kThreads} * kEach * (kEach - 1) / 2);
}

}  // namespace
}  // namespace heatsink::distributed
