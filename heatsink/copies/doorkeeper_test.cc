// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/doorkeeper.h"

#include <gtest/gtest.h>

#include <memory>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class DoorkeeperTest : public testing::Test {
 protected:
  using Word = Doorkeeper::Word;

  static constexpr ReadHash kRead{77};
  const std::unique_ptr<Doorkeeper> door_ = std::make_unique<Doorkeeper>(Bytes{100});
};

TEST_F(DoorkeeperTest, KnowsNothingAtFirst) {
  EXPECT_EQ(door_->ask(kRead, at(Nanos(0))), Word::kUnknown);
  EXPECT_EQ(door_->ask({0}, at(Nanos(0))), Word::kUnknown);
}

TEST_F(DoorkeeperTest, WhatWasSeenFitsUpToTheLimit) {
  door_->saw(kRead, 100, at(Nanos(0)));
  EXPECT_EQ(door_->ask(kRead, at(Nanos(0))), Word::kFits);
  door_->saw(kRead, 101, at(Nanos(0)));
  EXPECT_EQ(door_->ask(kRead, at(Nanos(0))), Word::kNot);
}

TEST_F(DoorkeeperTest, ForgetsAfterAWhile) {
  door_->saw(kRead, 1, at(Nanos(0)));
  EXPECT_EQ(door_->ask(kRead, at(Doorkeeper::kMemory) - Nanos(1)), Word::kFits);
  EXPECT_EQ(door_->ask(kRead, at(Doorkeeper::kMemory)), Word::kUnknown);
}

TEST_F(DoorkeeperTest, ARefusalIsForgottenSooner) {
  door_->saw(kRead, 1, at(Nanos(0)));
  door_->refused(kRead, at(Nanos(0)));
  EXPECT_EQ(door_->ask(kRead, at(Doorkeeper::kRefusal) - Nanos(1)), Word::kNot);
  EXPECT_EQ(door_->ask(kRead, at(Doorkeeper::kRefusal)), Word::kUnknown);
}

TEST_F(DoorkeeperTest, AReadThatSharesThePlaceIsAnother) {
  door_->saw(kRead, 1, at(Nanos(0)));
  const ReadHash other{kRead.value + (std::uint64_t{1} << 40)};
  EXPECT_EQ(door_->ask(other, at(Nanos(0))), Word::kUnknown);
  door_->saw(other, 1000, at(Nanos(0)));
  EXPECT_EQ(door_->ask(kRead, at(Nanos(0))), Word::kUnknown);  // pushed out: to be seen again
}

}  // namespace
}  // namespace heatsink::copies
