// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_counts.h"

#include <gtest/gtest.h>

#include <memory>

namespace heatsink::topology {
namespace {

constexpr TimePoint second(int seconds) { return TimePoint{std::chrono::seconds(1000 + seconds)}; }

struct SlotCountsTest : testing::Test {
  void ask(std::uint16_t slot, int commands) {
    for (int i = 0; i < commands; ++i)
      if (sampler.counts_next()) counts->add(slot);
  }
  std::unique_ptr<SlotCounts> counts = std::make_unique<SlotCounts>();
  SlotCounts::Sampler sampler{7};
};

TEST_F(SlotCountsTest, RatesAreOfTheLastWindows) {
  EXPECT_TRUE(counts->rates(second(0)).empty());
  counts->tick(second(0));
  ask(5, 100'000);
  ask(16383, 50'000);
  auto rates = counts->rates(second(10));
  EXPECT_NEAR(rates[5], 10'000, 300);
  EXPECT_NEAR(rates[16383], 5'000, 200);
  EXPECT_EQ(rates[0], 0);
  counts->tick(second(10));
  counts->tick(second(15));  // too early
  EXPECT_NEAR(counts->rates(second(20))[5], 5'000, 200);
  counts->tick(second(20));
  EXPECT_EQ(counts->rates(second(25))[5], 0);
}

TEST_F(SlotCountsTest, ARepeatedRowOfCommandsIsCountedRight) {
  counts->tick(second(0));
  for (int i = 0; i < 20'000; ++i)
    for (std::uint16_t slot = 0; slot < SlotCounts::kSampled; ++slot) ask(slot, 1);
  const auto rates = counts->rates(second(1));
  for (std::uint16_t slot = 0; slot < SlotCounts::kSampled; ++slot)
    EXPECT_NEAR(rates[slot], 20'000, 2'000) << slot;
}

TEST_F(SlotCountsTest, ThereIsNoRateBeforeTimeHasPassed) {
  counts->tick(second(0));
  EXPECT_TRUE(counts->rates(second(0)).empty());
  ask(1, 8'000);
  EXPECT_NEAR(counts->rates(second(2))[1], 4'000, 400);
}

}  // namespace
}  // namespace heatsink::topology
