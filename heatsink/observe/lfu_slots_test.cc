// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_slots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace heatsink::observe {
namespace {

const LfuSettings kUsual;

TEST(LfuSlots, ASlotHasTheSumOfItsKeysEstimates) {
  LfuSlots slots;
  double sum = 0;
  for (const int counter : {0, 5, 6, 100, 255}) {
    slots.add(7, counter);
    sum += lfu_rate(counter, kUsual).rate;
  }
  slots.add(16383, 8);
  const auto told = slots.busiest(kUsual);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].slot, 7);
  EXPECT_EQ(told[0].keys, 5);
  EXPECT_NEAR(told[0].rate, sum, 1e-9);
  EXPECT_TRUE(std::isnan(told[0].cpu_share));
  EXPECT_TRUE(std::isnan(told[0].bytes_rate));
  EXPECT_EQ(told[1].slot, 16383);
}

TEST(LfuSlots, NewKeysThatNobodyReadAreNoTraffic) {
  LfuSlots slots;
  for (int i = 0; i < 1000; ++i) slots.add(3, kLfuBegin);
  EXPECT_TRUE(slots.busiest(kUsual).empty());
  slots.add(3, kLfuBegin + 1);  // one read lifts a new key to here
  ASSERT_EQ(slots.busiest(kUsual).size(), 1u);
  EXPECT_NEAR(slots.busiest(kUsual)[0].rate, 11 / 60.0, 1e-9);
}

TEST(LfuSlots, WithoutADecayTimeThereAreNoRates) {
  LfuSlots slots;
  slots.add(3, 200);
  EXPECT_TRUE(slots.busiest({.decay_minutes = 0}).empty());
}

TEST(LfuSlots, OnlyTheBusiestAreTold) {
  LfuSlots slots;
  for (std::uint16_t slot = 0; slot < 250; ++slot) slots.add(slot, slot);
  const auto told = slots.busiest(kUsual);
  ASSERT_EQ(told.size(), LfuSlots::kTold);
  EXPECT_EQ(told.front().slot, 249);
  EXPECT_EQ(told.back().slot, 150);
}

TEST(LfuSlots, WhatIsSavedComesBack) {
  LfuSlots slots;
  for (std::uint16_t slot = 0; slot < 16384; ++slot) {
    slots.add(slot, slot % 256);
    slots.add(slot, 3);
  }
  EXPECT_LT(slots.saved().size(), 512U << 10U);
  std::istringstream in(slots.saved() + "what comes after it");
  LfuSlots other;
  other.add(16383, 77);
  ASSERT_TRUE(other.restore(in));
  EXPECT_EQ(other.saved(), slots.saved());
  std::string after;
  in >> after;
  EXPECT_EQ(after, "what");
}

TEST(LfuSlots, WhatWasNeverSavedIsNotTaken) {
  LfuSlots slots;
  slots.add(1, 9);
  const std::string before = slots.saved();
  for (const char* text : {"", "x", "-", "16385\n", "99999999999999999999", "2\n1 1 1 1\n",
                           "1\n16384 1 1 1\n", "1\n5 1 2 2\n", "1\n5 1 1 0\n", "1\n5 1 1 251\n",
                           "1\n5 1 0 1\n", "1\n5 5000000000 1 1\n", "1\n-1 1 1 1\n"}) {
    std::istringstream in(text);
    EXPECT_FALSE(slots.restore(in)) << text;
    EXPECT_EQ(slots.saved(), before) << text;
  }
}

}  // namespace
}  // namespace heatsink::observe
