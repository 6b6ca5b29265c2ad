// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/part_sum.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

#include "heatsink/base/random.h"

namespace heatsink::spread {
namespace {

using State = PartSum::State;

PartSum sum_of(std::initializer_list<const char*> parts) {
  PartSum sum;
  for (const char* part : parts) {
    if (part != nullptr) sum.add(part);
  }
  return sum;
}

TEST(PartSum, Adds) {
  EXPECT_EQ(sum_of({"1", nullptr, "41"}).value(), 42);
  EXPECT_EQ(sum_of({"-5", "3"}).value(), -2);
  EXPECT_EQ(sum_of({"-1", "1"}).value(), 0);
  EXPECT_EQ(sum_of({nullptr, nullptr}).state(), State::kNone);
  EXPECT_EQ(sum_of({}).state(), State::kNone);
}

TEST(PartSum, WhatIsNoInteger) {
  for (const char* part : {"", "x", "1.5", " 1", "+1", "01", "9223372036854775808"})
    EXPECT_EQ(sum_of({"1", part}).state(), State::kNotInteger) << part;
}

TEST(PartSum, TheEdgesOfInt64) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sum_of({"9223372036854775807"}).value(), kMax);
  EXPECT_EQ(sum_of({"-9223372036854775808"}).value(), kMin);
  EXPECT_EQ(sum_of({"9223372036854775807", "1"}).state(), State::kTooLarge);
  EXPECT_EQ(sum_of({"-9223372036854775808", "-1"}).state(), State::kTooLarge);
  EXPECT_EQ(sum_of({"9223372036854775807", "9223372036854775807", "-9223372036854775807"}).value(),
            kMax)
      << "only the sum counts, not the way to it";
  EXPECT_EQ(sum_of({"9223372036854775807", "-9223372036854775808"}).value(), -1);
}

TEST(PartSum, AgreesWithPlainAddition) {
  Random random(1);
  for (int round = 0; round < 1000; ++round) {
    PartSum sum;
    std::int64_t expected = 0;
    for (int part = 0; part < 16; ++part) {
      const auto number = static_cast<std::int64_t>(random.next()) / 32;
      expected += number;
      sum.add(std::to_string(number));
    }
    ASSERT_EQ(sum.value(), expected);
  }
}

}  // namespace
}  // namespace heatsink::spread
