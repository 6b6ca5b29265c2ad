// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/counts_window.h"

#include <gtest/gtest.h>

#include "heatsink/client/metrics.h"
#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr Nanos kSlot = std::chrono::seconds(1);

Counts loads(std::uint64_t n) {
  Counts counts;
  counts.loads = n;
  return counts;
}

TEST(CountsWindow, HasWhatTheLastWindowAdded) {
  CountsWindow window(10 * kSlot);
  window.look(loads(5), kStart);
  EXPECT_EQ(window.within().loads, 5U);
  window.look(loads(7), kStart + 4 * kSlot);
  EXPECT_EQ(window.within().loads, 7U);
  window.look(loads(7), kStart + 9 * kSlot);
  EXPECT_EQ(window.within().loads, 7U);
  window.look(loads(8), kStart + 10 * kSlot);
  EXPECT_EQ(window.within().loads, 3U) << "the first five have left";
  window.look(loads(8), kStart + 14 * kSlot);
  EXPECT_EQ(window.within().loads, 1U);
  window.look(loads(8), kStart + 100 * kSlot);
  EXPECT_EQ(window.within().loads, 0U);
}

TEST(CountsWindow, KnowsEveryCount) {
  Counts totals;
  std::uint64_t n = 0;
  for (const CountRow& row : count_rows()) totals.*row.count = ++n;
  CountsWindow window(10 * kSlot);
  window.look(totals, kStart);
  const Counts within = window.within();
  for (const CountRow& row : count_rows()) EXPECT_EQ(within.*row.count, totals.*row.count);
  EXPECT_EQ(sizeof(Counts), n * sizeof(std::uint64_t)) << "each has a row of its own";
}

}  // namespace
}  // namespace heatsink::client
