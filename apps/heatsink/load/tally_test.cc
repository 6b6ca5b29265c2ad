// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "heatsink/base/random.h"

namespace heatsink::app {
namespace {

TEST(LatencyRecorder, QuantilesAreWithinOneStepOfTheTruth) {
  Random random(5);
  LatencyRecorder recorder;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(static_cast<std::int64_t>(random.next() >> (30 + random.next() % 30)));
    recorder.add(Nanos(all.back()));
  }
  std::ranges::sort(all);
  for (const double share : {0.0001, 0.1, 0.5, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all.size()));
    const std::int64_t truth = all[std::max<std::size_t>(rank, 1) - 1];
    const std::int64_t told = recorder.quantile(share).count();
    EXPECT_GE(told, truth) << share;
    EXPECT_LE(told, truth + truth / 32 + 1) << share;
  }
  EXPECT_EQ(recorder.max().count(), all.back());
}

TEST(LatencyRecorder, EdgesOfTheRange) {
  LatencyRecorder recorder;
  EXPECT_EQ(recorder.quantile(0.5), Nanos(0));
  recorder.add(Nanos(-5));
  EXPECT_EQ(recorder.quantile(1), Nanos(0));
  recorder.add(Nanos::max());
  EXPECT_EQ(recorder.quantile(1), Nanos::max());
  EXPECT_EQ(recorder.quantile(0.5), Nanos(0));
}

TEST(LatencyRecorder, MergedIsAsIfRecordedInOne) {
  LatencyRecorder all, left, right;
  for (int i = 1; i <= 1000; ++i) {
    all.add(Nanos(i * i));
    (i % 3 == 0 ? left : right).add(Nanos(i * i));
  }
  left.merge(right);
  EXPECT_EQ(left.count(), 1000u);
  EXPECT_EQ(left.max(), all.max());
  for (const double share : {0.1, 0.5, 0.9, 0.99})
    EXPECT_EQ(left.quantile(share), all.quantile(share));
}

}  // namespace
}  // namespace heatsink::app
