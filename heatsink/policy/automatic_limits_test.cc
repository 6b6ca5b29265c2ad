// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/automatic_limits.h"

#include <gtest/gtest.h>

#include <chrono>

#include "heatsink/base/testing/times.h"

namespace heatsink::policy {
namespace {

using namespace std::chrono_literals;
using Seen = AutomaticLimits::Seen;
using Changes = std::vector<AutomaticLimits::Change>;

constexpr KeyHash kA{1}, kB{2};

class Automatic : public ::testing::Test {
 protected:
  Changes at(Nanos since_start, double rate) {
    const Seen seen{kA, "a", 0, rate};
    return limits.update({&seen, 1}, kStart + since_start);
  }
  AutomaticLimits limits{1000, 2};
};

TEST_F(Automatic, BeginsAtTheThresholdAndIsToldOnce) {
  EXPECT_TRUE(at(0s, 999).empty());
  const Changes begun = at(1s, 1000);
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_TRUE(begun.front().begins);
  EXPECT_EQ(begun.front().key, "a");
  EXPECT_EQ(automatic_reason(begun.front(), 1000),
            "1000/s >= limits.automatic-qps 1000: the server gets at most this rate of it");
  EXPECT_TRUE(at(2s, 5000).empty());
}

TEST_F(Automatic, EndsWhenItHasBeenCalmForLong) {
  ASSERT_EQ(at(0s, 1000).size(), 1U);
  EXPECT_TRUE(at(9s, 799).empty());
  EXPECT_TRUE(at(9500ms, 800).empty());  // not calm: the time starts anew here
  EXPECT_TRUE(at(19s, 799).empty());
  const Changes ended = at(19500ms, 799);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_FALSE(ended.front().begins);
  EXPECT_EQ(automatic_reason(ended.front(), 1000),
            "799/s, and below 80% of limits.automatic-qps 1000 for 10s");
  EXPECT_EQ(limits.size(), 0U);
}

TEST_F(Automatic, AKeyThatIsNotSeenRests) {
  ASSERT_EQ(at(0s, 1000).size(), 1U);
  EXPECT_TRUE(limits.update({}, kStart + 9s).empty());
  EXPECT_EQ(limits.update({}, kStart + 10s).size(), 1U);
}

TEST_F(Automatic, NoMoreThanSoManyKeys) {
  const std::vector<Seen> seen{{kA, "a", 0, 3000}, {kB, "b", 0, 2000}, {KeyHash{3}, "c", 0, 1500}};
  EXPECT_EQ(limits.update(seen, kStart).size(), 2U);
  EXPECT_TRUE(limits.update(seen, kStart + 1s).empty());
}

}  // namespace
}  // namespace heatsink::policy
