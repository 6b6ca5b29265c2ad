// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"

namespace heatsink::consistency {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::size_t expiries(const HistoryMaker& maker, Nanos bound) {
  std::size_t count = 0;
  for (const Violation& violation : judge(maker.history, bound).violations)
    count += violation.promise == Promise::kExpiry;
  return count;
}

TEST(Verdict, NothingIsRight) {
  const Verdict verdict = judge({}, Nanos(0));
  EXPECT_THAT(verdict.violations, IsEmpty());
  EXPECT_EQ(verdict.staleness, Nanos(0));
}

TEST(Verdict, MeasuresHowOldReadsAre) {
  const HistoryMaker maker =
      HistoryMaker().on(9, 0).write(1, 0, 1).write(2, 2, 3).on(1).read(1, 10, 11).read(2, 12, 13);
  const Verdict verdict = judge(maker.history, Millis(100));
  EXPECT_THAT(verdict.violations, IsEmpty());
  EXPECT_EQ(verdict.reads, 2U);
  EXPECT_EQ(verdict.reads_behind, 1U);
  EXPECT_EQ(verdict.behind_max, Millis(7));  // 2 was there at 3, the read began at 10
  EXPECT_NEAR(static_cast<double>(verdict.staleness.count()), 7e6, 2e3);
}

TEST(Verdict, EachLevelAsksForMore) {
  const HistoryMaker maker = HistoryMaker()
                                 .on(9, 0)
                                 .of(0)
                                 .write(1, 0, 1)
                                 .write(2, 2, 3)
                                 .of(1)
                                 .write(3, 4, 5)
                                 .on(1)
                                 .read(3, 6, 7)
                                 .of(0)
                                 .read(1, 8, 9);
  EXPECT_THAT(judge(maker.history, Millis(100), Level::kKey).violations, IsEmpty());
  EXPECT_EQ(judge(maker.history, Millis(100), Level::kSession).violations.size(), 1U);
  HistoryMaker back = maker;
  back.read(2, 10, 11).read(1, 12, 13);
  EXPECT_THAT(judge(back.history, Millis(100), Level::kTtl).violations, IsEmpty());
  EXPECT_THAT(judge(back.history, Millis(5), Level::kTtl).violations, testing::Not(IsEmpty()));
  EXPECT_THAT(judge(back.history, Millis(100), Level::kKey).violations, testing::Not(IsEmpty()));
}

TEST(Verdict, NoStalenessExplainsAPhantom) {
  EXPECT_LT(judge(HistoryMaker().read(1, 0, 1).history, Nanos(0)).staleness, Nanos(0));
}

TEST(Verdict, OwnTtlIsExactWhateverTheBound) {
  const HistoryMaker maker = HistoryMaker().on(9, 0).write(1, 0, 1, 100).on(1).read(1, 105, 106);
  EXPECT_EQ(expiries(maker, Millis(1000)), 1U);
  EXPECT_EQ(expiries(HistoryMaker().write(1, 0, 1, 100).read(1, 103, 106), Nanos(0)), 0U);
}

TEST(Verdict, AShortenedLifeIsKnownWithinTheBound) {
  const HistoryMaker maker =
      HistoryMaker().on(9, 0).write(1, 0, 1).expire(100, 2, 3).on(1).read(1, 150, 151);
  EXPECT_EQ(expiries(maker, Nanos(0)), 1U);
  EXPECT_EQ(expiries(maker, Millis(100)), 0U);
}

TEST(Verdict, TellsTheShortestExcerptWithTimes) {
  const HistoryMaker maker = HistoryMaker()
                                 .on(9, 0)
                                 .write((9ULL << 32) + 1, 0, 1)
                                 .write((9ULL << 32) + 2, 2, 3)
                                 .on(4)
                                 .read((9ULL << 32) + 1, 10, 11.5);
  const std::string text = to_text(judge(maker.history, Millis(1)), Millis(1));
  EXPECT_THAT(text, HasSubstr("1 violations"));
  EXPECT_THAT(text, HasSubstr("[10.000, 11.500 ms] key 0: session 4 (through proxy 1)"));
  EXPECT_THAT(text, HasSubstr("read #9.1"));
  EXPECT_THAT(text, HasSubstr("(bound 1.000 ms)"));
}

}  // namespace
}  // namespace heatsink::consistency
