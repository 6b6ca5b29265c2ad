// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/copies_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CopiesReport report_with(std::vector<CopiesReport::Point> curve) {
  CopiesReport report;
  report.entries_max = 1000;
  report.curve = std::move(curve);
  return report;
}

TEST(BudgetAdvice, SaysNothingWithoutACurve) { EXPECT_EQ(budget_advice(report_with({})), ""); }

// A process of the library plays no more copies than it can use.
TEST(BudgetAdvice, SaysThatThereIsRoomToSpare) {
  EXPECT_EQ(budget_advice(report_with({{60, 0.2}, {240, 0.3}})),
            "the cache has room for more copies than the traffic so far could use");
}

TEST(BudgetAdvice, AsksForMoreWhereMoreSavesClearlyMore) {
  const std::string advice =
      budget_advice(report_with({{250, 0.2}, {1000, 0.3}, {2000, 0.36}, {4000, 0.35}}));
  EXPECT_THAT(advice, StartsWith("2000 copies would save the server 36.0 % of the reads"));
  EXPECT_THAT(advice, HasSubstr("instead of 30.0 % with 1000"));
  EXPECT_THAT(advice, HasSubstr("raise cache.maximum-size"));
}

TEST(BudgetAdvice, NamesTheSmallestCacheThatIsAsGood) {
  const std::string advice =
      budget_advice(report_with({{125, 0.3}, {250, 0.3}, {500, 0.3}, {1000, 0.3}, {4000, 0.31}}));
  EXPECT_THAT(advice, StartsWith("125 copies would save the server 30.0 % of the reads"));
  EXPECT_THAT(advice, HasSubstr("larger than needed"));
}

TEST(BudgetAdvice, SaysThatTheSizeIsRight) {
  EXPECT_EQ(budget_advice(report_with({{500, 0.2}, {1000, 0.3}, {4000, 0.31}})),
            "the size is right: 1000 copies would save the server 30.0 % of the reads, and four "
            "times as many 31.0 %");
}

TEST(BudgetAdvice, SaysThatNoNumberOfCopiesPays) {
  EXPECT_THAT(budget_advice(report_with({{500, -0.1}, {1000, -0.5}, {4000, -0.2}})),
              StartsWith("no number of copies pays now"));
  EXPECT_THAT(budget_advice(report_with({{500, -0.1}, {1000, -0.1}, {4000, 0.1}})),
              StartsWith("4000 copies would save"));
}

TEST(BudgetAdvice, DoesNotCallACacheThatSavesNothingTooLarge) {
  CopiesReport report = report_with({{500, -0.1}, {1000, -0.1}, {4000, -0.1}});
  report.choice = CopiesReport::Choice{3, 131'072, "clock"};
  EXPECT_THAT(budget_advice(report), StartsWith("no number of copies pays now"));
}

}  // namespace
}  // namespace heatsink::report
