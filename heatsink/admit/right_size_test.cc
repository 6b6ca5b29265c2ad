// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/right_size.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink::admit {
namespace {

std::optional<std::size_t> right(const std::vector<double>& saved) { return right_size(saved); }

TEST(RightSizeTest, TheFewestCopiesThatSaveNearlyAsMuchAsTheBest) {
  EXPECT_EQ(right({0.30, 0.48, 0.46, 0.50}), 1U);
  EXPECT_EQ(right({0.458, 0.48, 0.50}), 1U) << "95 % of the best one, not of the next";
  EXPECT_EQ(right({0.632, 0.665, 0.64}), 0U);
}

TEST(RightSizeTest, NothingWhereNoNumberOfCopiesPays) {
  EXPECT_EQ(right({}), std::nullopt);
  EXPECT_EQ(right({-0.1, 0.009}), std::nullopt);
  EXPECT_EQ(right({-0.1, 0.01}), 1U);
}

SizeAdvice advice(const std::vector<double>& saved, std::size_t now) {
  const std::vector<std::size_t> copies{250, 500, 1000, 2000, 4000};
  return size_advice(copies, saved, now);
}

TEST(RightSizeTest, MoreWhereTheNumberInUseSavesClearlyLess) {
  EXPECT_EQ(advice({0.2, 0.25, 0.3, 0.36, 0.35}, 2).what, SizeAdvice::Do::kRaise);
  EXPECT_EQ(advice({0.2, 0.25, 0.3, 0.36, 0.35}, 2).to, 3U);
  EXPECT_EQ(advice({0.2, 0.25, 0.33, 0.36, 0.35}, 2).what, SizeAdvice::Do::kKeep);
}

TEST(RightSizeTest, FewerWhereAnEighthSavesTheSame) {
  EXPECT_EQ(advice({0.1, 0.3, 0.3, 0.3, 0.3}, 4).what, SizeAdvice::Do::kLower);
  EXPECT_EQ(advice({0.1, 0.3, 0.3, 0.3, 0.3}, 4).to, 1U);
  EXPECT_EQ(advice({0.1, 0.1, 0.1, 0.3, 0.3}, 4).what, SizeAdvice::Do::kKeep) << "only half";
}

TEST(RightSizeTest, NothingPays) {
  EXPECT_EQ(advice({-0.1, -0.2, 0, 0, 0}, 2).what, SizeAdvice::Do::kNothingPays);
}

// 4000 copies save 66.5 %: 1000, then 4000, and never back.
TEST(RightSizeTest, WhoFollowsAdviceIsNotSentBack) {
  const std::vector<double> saved{0.3, 0.45, 0.55, 0.632, 0.665};
  for (std::size_t now = 0; now < saved.size(); ++now) {
    const SizeAdvice first = advice(saved, now);
    if (first.what == SizeAdvice::Do::kKeep) continue;
    EXPECT_EQ(advice(saved, first.to).what, SizeAdvice::Do::kKeep) << now;
  }
  EXPECT_EQ(advice(saved, *right(saved)).what, SizeAdvice::Do::kKeep);
}

}  // namespace
}  // namespace heatsink::admit
