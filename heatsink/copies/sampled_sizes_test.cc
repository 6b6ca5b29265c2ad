// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/sampled_sizes.h"

#include <gtest/gtest.h>

#include <memory>

namespace heatsink::copies {
namespace {

constexpr KeyHash kSizedKey{0x1234'5678'0000'0042};

class SampledSizesTest : public ::testing::Test {
 protected:
  std::unique_ptr<SampledSizes> sizes_ = std::make_unique<SampledSizes>(7);
};

TEST_F(SampledSizesTest, TellsTheLastSizeOfAKey) {
  EXPECT_EQ(sizes_->last(kSizedKey), 0U);
  sizes_->add(kSizedKey, 100);
  sizes_->add(kSizedKey, 300);
  EXPECT_EQ(sizes_->last(kSizedKey), 300U);
  EXPECT_EQ(sizes_->sum().replies, 2U);
  EXPECT_EQ(sizes_->sum().bytes, 400U);
}

TEST_F(SampledSizesTest, AKeyWithTheSameEntryReplacesIt) {
  const KeyHash other{0x9999'5678'0000'0042};
  sizes_->add(kSizedKey, 100);
  EXPECT_EQ(sizes_->last(other), 0U) << "not the size of another key";
  sizes_->add(other, 5);
  EXPECT_EQ(sizes_->last(kSizedKey), 0U);
  EXPECT_EQ(sizes_->last(other), 5U);
}

TEST_F(SampledSizesTest, AHugeReplyIsAtLeastSoLarge) {
  sizes_->add(kSizedKey, 1ULL << 40U);
  EXPECT_EQ(sizes_->last(kSizedKey), UINT32_MAX);
  EXPECT_EQ(sizes_->sum().bytes, 1ULL << 40U);
}

TEST_F(SampledSizesTest, LooksAtOneReplyInSixteen) {
  int looked_at = 0;
  for (int i = 0; i < 16'000; ++i) looked_at += sizes_->looks_at_next() ? 1 : 0;
  EXPECT_NEAR(looked_at, 1000, 60);
}

}  // namespace
}  // namespace heatsink::copies
