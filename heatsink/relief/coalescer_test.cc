// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/coalescer.h"

#include <gtest/gtest.h>

#include <memory>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kWindow = std::chrono::milliseconds(5);

CoalescedWrite::Target target(std::uint64_t number) { return {{number}, {number}}; }

Coalescer::Group ups(std::uint64_t number) {
  return Coalescer::group_of(CoalesceKind::kUp, target(number));
}

class CoalescerTest : public testing::Test {
 protected:
  Coalescer::Turn ask(Coalescer::Group group, TimePoint now) {
    return coalescer_->ask(group, kWindow, now);
  }
  std::optional<Coalescer::Offer> offer(std::uint64_t number, std::string_view request = "x") {
    return coalescer_->offer(ups(number), CoalesceKind::kUp, "k", target(number),
                             {nullptr, 1, 1, request, false});
  }

  std::unique_ptr<Coalescer> coalescer_ = std::make_unique<Coalescer>();
};

TEST_F(CoalescerTest, AKeyThatIsWrittenSeldomWaitsForNothing) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(ups(1), at(i * kWindow)), Coalescer::Turn::kAlone);
}

TEST_F(CoalescerTest, WhatFollowsWithinTheWindowIsGatheredUntilItEnds) {
  ask(ups(1), at(Nanos(0)));
  EXPECT_EQ(ask(ups(1), at(Nanos(1))), Coalescer::Turn::kGather);
  const auto first = offer(1);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->opened);
  EXPECT_EQ(first->due, at(kWindow));
  EXPECT_EQ(ask(ups(1), at(kWindow)), Coalescer::Turn::kGather);  // just before its time
  EXPECT_FALSE(offer(1)->opened);
  EXPECT_EQ(coalescer_->take(ups(1), at(kWindow))->size(), 2U);
  EXPECT_FALSE(coalescer_->take(ups(1), at(kWindow)));
}

TEST_F(CoalescerTest, WhatIsSentBeginsAWindow) {
  ask(ups(1), at(Nanos(0)));
  offer(1);
  coalescer_->take(ups(1), at(kWindow));
  EXPECT_EQ(ask(ups(1), at(2 * kWindow - Nanos(1))), Coalescer::Turn::kGather);
  EXPECT_EQ(offer(1)->due, at(2 * kWindow));
  coalescer_->take(ups(1), at(2 * kWindow));
  EXPECT_EQ(ask(ups(1), at(3 * kWindow)), Coalescer::Turn::kAlone);
}

TEST_F(CoalescerTest, KindsKeysAndProtocolsAreLinesOfTheirOwn) {
  CoalescedWrite::Target resp3 = target(1);
  resp3.protocol = resp::Protocol::kResp3;
  const std::array lines{ups(1), ups(2), Coalescer::group_of(CoalesceKind::kDown, target(1)),
                         Coalescer::group_of(CoalesceKind::kSet, target(1)),
                         Coalescer::group_of(CoalesceKind::kUp, resp3)};
  for (const Coalescer::Group group : lines)
    EXPECT_EQ(ask(group, at(Nanos(0))), Coalescer::Turn::kAlone);
}

TEST_F(CoalescerTest, ManyKeysAtOnceAreBounded) {
  std::size_t taken = 0;
  for (std::uint64_t i = 1; i <= 2 * Coalescer::kGatheredMax; ++i) {
    ask(ups(i), at(Nanos(0)));
    if (offer(i)) ++taken;
  }
  EXPECT_EQ(taken, Coalescer::kGatheredMax);
}

TEST_F(CoalescerTest, OneThatIsTooBigForAnyWriteLeavesNothingBehind) {
  ask(ups(1), at(Nanos(0)));
  EXPECT_FALSE(offer(1, std::string(CoalescedWrite::kBytesMax + 1, 'x')));
  EXPECT_FALSE(coalescer_->take(ups(1), at(kWindow)));
}

}  // namespace
}  // namespace heatsink::proxy
