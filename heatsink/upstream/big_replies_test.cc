// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/big_replies.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

constexpr std::uint64_t kRead = 7;
constexpr std::uint64_t kRival = 7 + BigReplies::kEntries;  // has the same entry
constexpr std::uint64_t kBig = 10 * BigReplies::kBigBytes;

TEST(BigReplies, OnlyBigOnesAreRemembered) {
  BigReplies replies;
  replies.record(kRead, BigReplies::kBigBytes - 1);
  EXPECT_EQ(replies.expect(kRead), 0u);
  EXPECT_TRUE(replies.empty());
  replies.record(kRead, kBig);
  EXPECT_EQ(replies.expect(kRead), kBig);
  EXPECT_FALSE(replies.empty());
  EXPECT_EQ(replies.expect(kRival), 0u) << "never another one's size";
}

TEST(BigReplies, AReadThatVariesIsBigUntilItHasBeenSmallForLong) {
  BigReplies replies;
  replies.record(kRead, kBig);
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 1; i < BigReplies::kForgottenAfter; ++i) replies.record(kRead, 5);
    EXPECT_EQ(replies.expect(kRead), kBig);
    replies.record(kRead, kBig);
  }
  for (std::uint32_t i = 0; i < BigReplies::kForgottenAfter; ++i) replies.record(kRead, 5);
  EXPECT_EQ(replies.expect(kRead), 0u);
  EXPECT_TRUE(replies.empty());
}

TEST(BigReplies, ItGrowsAtOnceAndShrinksLate) {
  BigReplies replies;
  replies.record(kRead, kBig);
  replies.record(kRead, std::uint64_t{5} << 32);
  EXPECT_EQ(replies.expect(kRead), UINT32_MAX);
  for (std::uint32_t i = 0; i < BigReplies::kForgottenAfter; ++i) replies.record(kRead, kBig);
  EXPECT_EQ(replies.expect(kRead), kBig);
  EXPECT_FALSE(replies.empty());
}

TEST(BigReplies, TheLatestBigOneHasThePlace) {
  BigReplies replies;
  replies.record(kRead, kBig);
  replies.record(kRival, 5);
  EXPECT_EQ(replies.expect(kRead), kBig);
  replies.record(kRival, kBig);
  EXPECT_EQ(replies.expect(kRead), 0u);
  EXPECT_EQ(replies.expect(kRival), kBig);
}

TEST(BigReplies, CommandsOnOneKeyAreToldApart) {
  constexpr KeyHash kKey{42};
  EXPECT_NE(BigReplies::hash(1, kKey), BigReplies::hash(2, kKey));
}

}  // namespace
}  // namespace heatsink::proxy
