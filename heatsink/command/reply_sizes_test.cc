// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reply_sizes.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

constexpr KeyHash kKey{7};
constexpr KeyHash kRival{7 + ReplySizes::kEntries};  // has the same entry

TEST(ReplySizes, LastReplyCounts) {
  ReplySizes sizes;
  EXPECT_EQ(sizes.last(kKey), 0u);
  sizes.remember(kKey, 100);
  sizes.remember(kKey, 300);
  EXPECT_EQ(sizes.last(kKey), 300u);
  EXPECT_EQ(sizes.last(kRival), 0u) << "never another key's size";
  sizes.remember(kKey, std::uint64_t{5} << 32);
  EXPECT_EQ(sizes.last(kKey), UINT32_MAX);
}

TEST(ReplySizes, BigRepliesKeepTheirPlaceLonger) {
  ReplySizes sizes;
  sizes.remember(kKey, 6400);
  for (int i = 0; i < 100; ++i) sizes.remember(kRival, 50);
  EXPECT_EQ(sizes.last(kKey), 6400u);
  sizes.remember(kRival, 50);
  EXPECT_EQ(sizes.last(kKey), 0u);
  EXPECT_EQ(sizes.last(kRival), 50u);
  sizes.remember(kKey, 6400);
  EXPECT_EQ(sizes.last(kKey), 6400u) << "a small one gives way at once";
}

TEST(ReplyGuess, NothingKnownCountsAsMuch) {
  ReplyGuess guess(1000, 10);
  EXPECT_EQ(guess.bytes(), 1000u);
  EXPECT_EQ(guess.known(), 0u);
  guess.record(5);
  EXPECT_EQ(guess.bytes(), 10u) << "never less than the least";
  EXPECT_EQ(guess.known(), 5u);
}

TEST(ReplyGuess, GrowsAtOnceAndShrinksSlowly) {
  ReplyGuess guess(1000, 10);
  guess.record(5);
  guess.record(900'000);
  EXPECT_EQ(guess.known(), 900'000u);
  guess.record(100);
  EXPECT_GT(guess.known(), 700'000u);
  for (int i = 0; i < 100; ++i) guess.record(100);
  EXPECT_LT(guess.known(), 110u);
  guess.record(std::uint64_t{1} << 40);
  EXPECT_EQ(guess.known(), UINT32_MAX);
}

}  // namespace

}  // namespace heatsink::proxy
