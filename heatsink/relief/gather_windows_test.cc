// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/gather_windows.h"

#include <gtest/gtest.h>

#include <memory>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kWindow = std::chrono::milliseconds(5);

GatheredWrite::Target target(std::uint64_t number) { return {{number}, {number}}; }

GatherWindows::Group ups(std::uint64_t number) {
  return GatherWindows::group_of(GatherKind::kUp, target(number));
}

class GatherWindowsTest : public testing::Test {
 protected:
  GatherWindows::Turn ask(GatherWindows::Group group, TimePoint now) {
    return windows_->ask(group, kWindow, now);
  }
  std::optional<GatherWindows::Offer> offer(std::uint64_t number, std::string_view request = "x") {
    return windows_->offer(ups(number), GatherKind::kUp, "k", target(number),
                           {nullptr, 1, 1, request, false});
  }

  std::unique_ptr<GatherWindows> windows_ = std::make_unique<GatherWindows>();
};

TEST_F(GatherWindowsTest, AKeyThatIsWrittenSeldomWaitsForNothing) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(ups(1), at(i * kWindow)), GatherWindows::Turn::kAlone);
}

TEST_F(GatherWindowsTest, WhatFollowsWithinTheWindowIsGatheredUntilItEnds) {
  ask(ups(1), at(Nanos(0)));
  EXPECT_EQ(ask(ups(1), at(Nanos(1))), GatherWindows::Turn::kGather);
  const auto first = offer(1);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->opened);
  EXPECT_EQ(first->due, at(kWindow));
  EXPECT_EQ(ask(ups(1), at(kWindow)), GatherWindows::Turn::kGather);  // just before its time
  EXPECT_FALSE(offer(1)->opened);
  EXPECT_EQ(windows_->take(ups(1), at(kWindow))->size(), 2U);
  EXPECT_FALSE(windows_->take(ups(1), at(kWindow)));
}

TEST_F(GatherWindowsTest, WhatIsSentBeginsAWindow) {
  ask(ups(1), at(Nanos(0)));
  offer(1);
  windows_->take(ups(1), at(kWindow));
  EXPECT_EQ(ask(ups(1), at(2 * kWindow - Nanos(1))), GatherWindows::Turn::kGather);
  EXPECT_EQ(offer(1)->due, at(2 * kWindow));
  windows_->take(ups(1), at(2 * kWindow));
  EXPECT_EQ(ask(ups(1), at(3 * kWindow)), GatherWindows::Turn::kAlone);
}

TEST_F(GatherWindowsTest, KindsKeysAndProtocolsAreLinesOfTheirOwn) {
  GatheredWrite::Target resp3 = target(1);
  resp3.protocol = resp::Protocol::kResp3;
  const std::array lines{ups(1), ups(2), GatherWindows::group_of(GatherKind::kDown, target(1)),
                         GatherWindows::group_of(GatherKind::kSet, target(1)),
                         GatherWindows::group_of(GatherKind::kUp, resp3)};
  for (const GatherWindows::Group group : lines)
    EXPECT_EQ(ask(group, at(Nanos(0))), GatherWindows::Turn::kAlone);
}

TEST_F(GatherWindowsTest, ManyKeysAtOnceAreBounded) {
  std::size_t taken = 0;
  for (std::uint64_t i = 1; i <= 2 * GatherWindows::kGatheredMax; ++i) {
    ask(ups(i), at(Nanos(0)));
    if (offer(i)) ++taken;
  }
  EXPECT_EQ(taken, GatherWindows::kGatheredMax);
}

TEST_F(GatherWindowsTest, OneThatIsTooBigForAnyWriteLeavesNothingBehind) {
  ask(ups(1), at(Nanos(0)));
  EXPECT_FALSE(offer(1, std::string(GatheredWrite::kBytesMax + 1, 'x')));
  EXPECT_FALSE(windows_->take(ups(1), at(kWindow)));
}

}  // namespace
}  // namespace heatsink::proxy
