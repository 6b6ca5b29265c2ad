// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limited_keys.h"

#include <gtest/gtest.h>

#include <chrono>

#include "heatsink/base/testing/times.h"

namespace heatsink::policy {
namespace {

using namespace std::chrono_literals;

constexpr KeyHash kLimitedKey{12345};

TEST(LimitedKeys, TellsARateAndForgetsIt) {
  LimitedKeys keys;
  EXPECT_EQ(keys.rate(kLimitedKey, kStart), 0);
  for (int ms = 0; ms < 3000; ms += 10) keys.add(kLimitedKey, kStart + Millis(ms));
  EXPECT_NEAR(keys.rate(kLimitedKey, kStart + 3s - 1ns), 100, 1e-3);
  EXPECT_DOUBLE_EQ(keys.rate(kLimitedKey, kStart + 3s), 100);
  EXPECT_EQ(keys.rate(KeyHash{1}, kStart + 3s), 0);
  EXPECT_EQ(keys.rate(kLimitedKey, kStart + 6s), 0);
}

// Old seconds share cells with new ones.
TEST(LimitedKeys, AKeyThatComesBackBeginsAnew) {
  LimitedKeys keys;
  for (int i = 0; i < 1000; ++i) keys.add(kLimitedKey, kStart);
  keys.add(kLimitedKey, kStart + 4s);
  EXPECT_DOUBLE_EQ(keys.rate(kLimitedKey, kStart + 5s), 0.5);
}

TEST(LimitedKeys, ABusyKeyKeepsItsPlaceAndAnIdleOneLosesIt) {
  LimitedKeys keys;
  keys.add(kLimitedKey, kStart);
  const std::uint64_t step = LimitedKeys::kKeysMax;
  for (std::uint64_t i = 1; i <= 100; ++i) keys.add(KeyHash{kLimitedKey.value + i * step}, kStart);
  EXPECT_GT(keys.rate(kLimitedKey, kStart + 1s), 0);
  for (std::uint64_t i = 1; i <= 4; ++i) keys.add(KeyHash{i * step + 7 * step}, kStart + 10s);
  for (std::uint64_t i = 1; i <= 4; ++i)
    keys.add(KeyHash{kLimitedKey.value + i * 7 * step}, kStart + 10s);
  EXPECT_EQ(keys.rate(kLimitedKey, kStart + 10s), 0);
  EXPECT_GT(keys.rate(KeyHash{kLimitedKey.value + 7 * step}, kStart + 11s), 0);
}

}  // namespace
}  // namespace heatsink::policy
