// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/limit_states.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heatsink::distributed {
namespace {

TEST(LimitStates, AKeyHasOne) {
  LimitStates states(100);
  const auto one = states.find("p:", "a");
  EXPECT_EQ(one->key, "p:a");
  EXPECT_EQ(states.find("p:", "a"), one);
  EXPECT_NE(states.find("p:", "b"), one);
  EXPECT_EQ(states.size(), 2U);
}

TEST(LimitStates, TheLongestUnusedGoes) {
  LimitStates states(16 * 10);
  const auto kept = states.find("", "kept");
  const std::weak_ptr<LimitState> gone = states.find("", "gone");
  for (int i = 0; i < 10'000; ++i) {
    states.find("", std::to_string(i));
    states.find("", "kept");
  }
  EXPECT_EQ(states.find("", "kept"), kept);
  EXPECT_TRUE(gone.expired());
  EXPECT_LE(states.size(), 160U);
}

}  // namespace
}  // namespace heatsink::distributed
