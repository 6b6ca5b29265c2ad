// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/reply_size_filter.h"

#include <gtest/gtest.h>

#include <memory>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class ReplySizeFilterTest : public testing::Test {
 protected:
  using Answer = ReplySizeFilter::Answer;

  static constexpr ReadHash kRead{77};
  const std::unique_ptr<ReplySizeFilter> filter_ = std::make_unique<ReplySizeFilter>(Bytes{100});
};

TEST_F(ReplySizeFilterTest, KnowsNothingAtFirst) {
  EXPECT_EQ(filter_->look_up(kRead, at(Nanos(0))), Answer::kUnknown);
  EXPECT_EQ(filter_->look_up({0}, at(Nanos(0))), Answer::kUnknown);
}

TEST_F(ReplySizeFilterTest, WhatWasSeenFitsUpToTheLimit) {
  filter_->record_reply(kRead, 100, at(Nanos(0)));
  EXPECT_EQ(filter_->look_up(kRead, at(Nanos(0))), Answer::kFits);
  filter_->record_reply(kRead, 101, at(Nanos(0)));
  EXPECT_EQ(filter_->look_up(kRead, at(Nanos(0))), Answer::kDoesNotFit);
}

TEST_F(ReplySizeFilterTest, ForgetsAfterAWhile) {
  filter_->record_reply(kRead, 1, at(Nanos(0)));
  EXPECT_EQ(filter_->look_up(kRead, at(ReplySizeFilter::kMemory) - Nanos(1)), Answer::kFits);
  EXPECT_EQ(filter_->look_up(kRead, at(ReplySizeFilter::kMemory)), Answer::kUnknown);
}

TEST_F(ReplySizeFilterTest, ARefusalIsForgottenSooner) {
  filter_->record_reply(kRead, 1, at(Nanos(0)));
  filter_->record_refusal(kRead, at(Nanos(0)));
  EXPECT_EQ(filter_->look_up(kRead, at(ReplySizeFilter::kRefusal) - Nanos(1)), Answer::kDoesNotFit);
  EXPECT_EQ(filter_->look_up(kRead, at(ReplySizeFilter::kRefusal)), Answer::kUnknown);
}

TEST_F(ReplySizeFilterTest, AReadThatSharesThePlaceIsAnother) {
  filter_->record_reply(kRead, 1, at(Nanos(0)));
  const ReadHash other{kRead.value + (std::uint64_t{1} << 40)};
  EXPECT_EQ(filter_->look_up(other, at(Nanos(0))), Answer::kUnknown);
  filter_->record_reply(other, 1000, at(Nanos(0)));
  EXPECT_EQ(filter_->look_up(kRead, at(Nanos(0))),
            Answer::kUnknown);  // overwritten, so unknown again
}

}  // namespace
}  // namespace heatsink::copies
