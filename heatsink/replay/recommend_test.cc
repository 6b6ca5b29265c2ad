// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::replay {
namespace {

using ::testing::HasSubstr;

EarnedSaving saving(std::size_t copies, double net, Bytes bytes = kNoByteLimit) {
  EarnedSaving out;
  out.capacity = {copies, bytes};
  out.copies_peak = copies;
  out.bytes_peak = copies * 1024;
  out.net_ratio = out.server_ratio = net;
  return out;
}

TEST(Budget, TheSmallestThatIsNearlyAsGood) {
  const Budget budget = recommend_budget(
      {saving(1000, 0.30), saving(4096, 0.48), saving(16'384, 0.46), saving(65'536, 0.50)});
  EXPECT_TRUE(budget.caching);
  EXPECT_EQ(budget.chosen.capacity.entries_max, 4096u);
  EXPECT_EQ(budget.best.capacity.entries_max, 65'536u);
  EXPECT_EQ(budget.cache_bytes, mebibytes(8)) << "twice the peak";
  ASSERT_EQ(budget.reasons.size(), 2u);
  EXPECT_EQ(budget.reasons[0].answer, "4096 copies");
  EXPECT_THAT(budget.reasons[0].why, HasSubstr("48.0 % of its work"));
  EXPECT_THAT(budget.reasons[0].why, HasSubstr("65536 copies would spare 50.0 %"));
}

TEST(Budget, NearlyAsGoodIsMeasuredAtTheBest) {
  const Budget budget =
      recommend_budget({saving(10, 0.458), saving(100, 0.48), saving(1000, 0.50)});
  EXPECT_EQ(budget.chosen.capacity.entries_max, 100u) << "10 copies save 95 % of that, not of 50 %";
}

// Commands are shown beside it.
TEST(Budget, TheServersWorkDecides) {
  EarnedSaving few = saving(1000, 0.40), many = saving(4096, 0.60);
  many.net_ratio = 0.35;
  const Budget budget = recommend_budget({many, few});
  EXPECT_EQ(budget.chosen.capacity.entries_max, 4096u);
  EXPECT_THAT(budget.reasons[0].why, HasSubstr("60.0 % of its work"));
  EXPECT_THAT(budget.reasons[0].why, HasSubstr("35.0 % of the commands"));
}

TEST(Budget, ALittleIsNotWorthIt) {
  const Budget budget = recommend_budget({saving(1000, -0.1), saving(4096, 0.009)});
  EXPECT_FALSE(budget.caching);
  EXPECT_THAT(budget.reasons[0].why, HasSubstr("4096 copies, spares the server 0.9 %"));
  EXPECT_THAT(recommend_budget({saving(1000, -0.1)}).reasons[0].why,
              HasSubstr("spares the server 0.0 %"));
}

TEST(Budget, AGivenLimitOfBytesIsTheAnswer) {
  const Budget budget = recommend_budget({saving(65'536, 0.5, mebibytes(16))});
  EXPECT_EQ(budget.cache_bytes, mebibytes(16));
  EXPECT_EQ(budget.reasons[0].answer, "16mb");
}

}  // namespace
}  // namespace heatsink::replay
