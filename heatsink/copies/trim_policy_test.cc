// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/trim_policy.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kWorth = TrimPolicy::kWorthBytes;
const TimePoint kStart = TimePoint(seconds(1000));

TEST(TrimPolicy, GrowthOfUnusedMemoryIsWorthIt) {
  TrimPolicy policy;
  EXPECT_FALSE(policy.due(kWorth * 5, kStart)) << "what the program has from the start";
  EXPECT_FALSE(policy.due(kWorth * 6 - 1, kStart));
  EXPECT_TRUE(policy.due(kWorth * 6, kStart));
}

TEST(TrimPolicy, NotTooOften) {
  TrimPolicy policy;
  EXPECT_FALSE(policy.due(0, kStart));
  EXPECT_TRUE(policy.due(kWorth, kStart));
  policy.trimmed(kWorth, 0, kStart);
  EXPECT_FALSE(policy.due(kWorth, kStart + seconds(1)));
  EXPECT_TRUE(policy.due(kWorth, kStart + TrimPolicy::kPauseMin));
}

TEST(TrimPolicy, AfterATrimInVainItTriesAgainEverLater) {
  TrimPolicy policy;
  EXPECT_FALSE(policy.due(0, kStart));
  TimePoint now = kStart;
  for (Nanos pause = TrimPolicy::kPauseMin * 2; pause < TrimPolicy::kPauseMax; pause *= 2) {
    EXPECT_TRUE(policy.due(kWorth, now));
    policy.trimmed(kWorth, kWorth, now);
    EXPECT_FALSE(policy.due(kWorth, now + pause - seconds(1)));
    now += pause;
  }
  EXPECT_TRUE(policy.due(kWorth, now));
  policy.trimmed(kWorth, 0, now);
  EXPECT_TRUE(policy.due(kWorth, now + TrimPolicy::kPauseMin));
}

}  // namespace
}  // namespace heatsink::copies
