// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/collector.h"

#include <gtest/gtest.h>

#include "heatsink/fleet/fleet_for_test.h"

namespace heatsink::fleet {
namespace {

Message report_of(const CountsForTest& counts, std::uint64_t absent_max = 0) {
  Message message;
  message.windows.push_back(window_for_test(counts, 1000, absent_max));
  return message;
}

TEST(FleetCollector, AddsUpWhatManyInstancesCounted) {
  Collector collector;
  constexpr int kInstances = 300;  // several batches
  for (int i = 0; i < kInstances; ++i)
    collector.add(report_of({{"sale", 3}, {"only:" + std::to_string(i), 50}}));
  const Message sum = collector.finish(10);
  EXPECT_EQ(sum.instances, 300U);
  ASSERT_EQ(sum.windows.size(), 1U);
  EXPECT_EQ(sum.windows[0].requests, 300'000U);
  EXPECT_EQ(sum.windows[0].keys.size(), 10U);
  EXPECT_EQ(sum.windows[0].keys[0].key, "sale");
  EXPECT_EQ(sum.windows[0].keys[0].low, 900U);
  EXPECT_EQ(sum.windows[0].keys[0].high, 900U);
}

TEST(FleetCollector, AnInstanceThatDoesNotListAKeyWidensItsBound) {
  Collector collector;
  collector.add(report_of({{"sale", 30}}));
  collector.add(report_of({{"other", 40}}, 7));
  const Message sum = collector.finish(10);
  EXPECT_EQ(find_for_test(sum.windows[0], "sale")->low, 30U);
  EXPECT_EQ(find_for_test(sum.windows[0], "sale")->high, 37U);
}

TEST(FleetCollector, KeepsMeasuresApartAndBeginsAnew) {
  Collector collector;
  Message both = report_of({{"a", 1}});
  both.windows.push_back(window_for_test({{"a", 5}}, 10));
  both.windows[1].window = both.windows[1].covered = std::chrono::seconds(1);
  collector.add(both);
  EXPECT_EQ(collector.finish(10).windows.size(), 2U);
  EXPECT_EQ(collector.finish(10).instances, 0U);
}

}  // namespace
}  // namespace heatsink::fleet
