// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reply_guess.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

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
