// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/swap_count.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::redis {
namespace {

using Finding = SwapCount::Finding;

std::string stats(int gets, const std::string& swaps) {
  std::string text = "# Commandstats\r\ncmdstat_get:calls=" + std::to_string(gets) +
                     ",usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r\n";
  if (!swaps.empty()) text += "cmdstat_swapdb:calls=" + swaps + ",rejected_calls=0\r\n";
  return text + "cmdstat_config|get:calls=2,usec=3\r\n";
}

TEST(SwapCount, StaysTheSameWithoutAnExchange) {
  SwapCount count;
  EXPECT_EQ(count.look(stats(5, "")), Finding::kUnknown) << "the start";
  EXPECT_EQ(count.look(stats(6, "")), Finding::kSame);
  SwapCount later;
  EXPECT_EQ(later.look(stats(5, "3,usec=7")), Finding::kUnknown);
  EXPECT_EQ(later.look(stats(5, "3,usec=7")), Finding::kSame);
}

TEST(SwapCount, SeesTheFirstExchangeAndEachFurtherOne) {
  SwapCount count;
  count.look(stats(5, ""));
  EXPECT_EQ(count.look(stats(6, "1,usec=2")), Finding::kSwapped);
  EXPECT_EQ(count.look(stats(7, "1,usec=2")), Finding::kSame);
  EXPECT_EQ(count.look(stats(8, "2,usec=4")), Finding::kSwapped);
}

TEST(SwapCount, AServerThatCountsAnewMayHaveExchangedThem) {
  SwapCount count;
  count.look(stats(500, "1,usec=2"));
  EXPECT_EQ(count.look(stats(1, "")), Finding::kSwapped);
  EXPECT_EQ(count.look(stats(2, "")), Finding::kSame);
  count.look(stats(500, ""));
  EXPECT_EQ(count.look(stats(3, "")), Finding::kSwapped) << "RESETSTAT behind a SWAPDB";
}

TEST(SwapCount, AServerThatDoesNotSayIsUnknown) {
  SwapCount count;
  for (const char* text : {"", "# Commandstats\r\n", "NOPERM", "\n\n", "cmdstat"})
    EXPECT_EQ(count.look(text), Finding::kUnknown) << text;
  EXPECT_EQ(count.look(stats(1, "")), Finding::kUnknown);
  EXPECT_EQ(count.look(""), Finding::kUnknown);
  EXPECT_EQ(count.look(stats(2, "1,usec=1")), Finding::kUnknown) << "a new start";
}

TEST(SwapCount, OtherCommandsWithSuchANameDoNotCount) {
  SwapCount count;
  count.look(stats(1, ""));
  EXPECT_EQ(count.look(stats(1, "") + "cmdstat_swapdbx:calls=1\r\n"), Finding::kSame);
}

TEST(SwapCount, ANewConnectionBeginsANewCount) {
  SwapCount count;
  count.look(stats(500, "1,usec=2"));
  count.reset();
  EXPECT_EQ(count.look(stats(1, "")), Finding::kUnknown);
}

}  // namespace
}  // namespace heatsink::redis
