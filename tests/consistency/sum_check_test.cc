// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/sum_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"
#include "tests/consistency/verdict.h"

namespace heatsink::consistency {
namespace {

std::size_t violations(const HistoryMaker& maker) { return check_sums(maker.history, 10).size(); }

HistoryMaker five() { return HistoryMaker().add(2, 0, 1).add(3, 2, 3); }

TEST(Sums, HaveWhatWasAnsweredBefore) {
  EXPECT_EQ(violations(five().sum(5, 4, 5)), 0U);
  EXPECT_EQ(violations(five().sum(4, 4, 5)), 1U);
  EXPECT_EQ(violations(five().sum(2, 2, 5)), 0U) << "the second addition was under way";
  EXPECT_EQ(violations(five().sum(1, 2, 5)), 1U);
}

TEST(Sums, HaveNothingThatWasSentLater) {
  EXPECT_EQ(violations(five().sum(6, 4, 5)), 1U);
  EXPECT_EQ(violations(five().sum(6, 4, 9).add(1, 8, 12)), 0U);
  EXPECT_EQ(violations(five().sum(6, 4, 7).add(1, 8, 9)), 1U);
}

TEST(Sums, AreConcurrentWithWhatHappensAtTheSameInstant) {
  EXPECT_EQ(violations(HistoryMaker().add(2, 0, 1).sum(0, 1, 2)), 0U);
  EXPECT_EQ(violations(HistoryMaker().add(2, 1, 2).sum(2, 0, 1)), 0U);
}

TEST(Sums, CountAnAdditionOfUnknownOutcomeOnceOrNever) {
  EXPECT_EQ(violations(five().lost_add(4, 4).sum(5, 50, 51)), 0U);
  EXPECT_EQ(violations(five().lost_add(4, 4).sum(5, 50, 51).sum(9, 60, 61)), 0U);
  EXPECT_EQ(violations(five().lost_add(4, 4).sum(13, 50, 51)), 1U);
}

TEST(Sums, DoNotShrink) {
  HistoryMaker maker = five().lost_add(4, 4);
  EXPECT_EQ(violations(HistoryMaker(maker).sum(9, 5, 6).sum(5, 7, 8)), 1U);
  EXPECT_EQ(violations(HistoryMaker(maker).sum(9, 5, 8).sum(5, 7, 9)), 0U);
}

TEST(Sums, AreOfEachCounter) {
  EXPECT_EQ(violations(five().of(1).sum(0, 4, 5)), 0U);
  EXPECT_EQ(violations(five().sum(0, 4, 5).of(1).add(1, 4, 5).sum(0, 6, 7)), 2U);
}

TEST(Sums, AreJudgedBesideRegisters) {
  const History history = five().sum(0, 4, 5).of(1).write(1, 0, 1).read(1, 2, 3).history;
  const Verdict verdict = judge(history, Nanos(0));
  ASSERT_EQ(verdict.violations.size(), 1U);
  EXPECT_EQ(verdict.violations.front().promise, Promise::kSum);
  EXPECT_THAT(to_text(verdict, Nanos(0)), testing::HasSubstr("read the sum 0"));
}

}  // namespace
}  // namespace heatsink::consistency
