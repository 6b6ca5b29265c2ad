// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_savings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heatsink/base/random.h"

namespace heatsink::admit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kBegin{std::chrono::seconds(100)};
constexpr Costs kFree{.fill = 0, .end = 0};

KeyHash key_of(std::uint64_t number) { return KeyHash{number}; }

class CopySavingsTest : public testing::Test {
 protected:
  void hit(std::uint64_t key, std::uint32_t times = 1, std::uint32_t weight = 1) {
    savings_.hit(std::vector<SampledHit>(times, {key_of(key), weight}));
  }
  void pass_second() {
    now_ += std::chrono::seconds(1);
    savings_.tick(now_);
  }
  std::vector<CopySaving> top(std::size_t count = 50, const Costs& costs = kFree) const {
    return savings_.top(count, costs, now_, [](KeyHash) { return true; });
  }

  TimePoint now_ = kBegin;
  CopySavings savings_{kBegin};
};

TEST_F(CopySavingsTest, RatesAreRightFromTheFirstSecondsOn) {
  for (int second = 1; second <= 60; ++second) {
    hit(1, 30);
    hit(2, 5);
    savings_.filled(key_of(1));
    savings_.ended(key_of(1));
    pass_second();
    ASSERT_THAT(top(), SizeIs(2)) << second;
    EXPECT_NEAR(top()[0].hits, 30, 0.01) << second;
    EXPECT_NEAR(top()[0].fills, 1, 0.01) << second;
    EXPECT_NEAR(top()[0].ends, 1, 0.01) << second;
    EXPECT_EQ(top()[0].hits_error, 0) << "each hit was counted";
    EXPECT_NEAR(top()[1].hits, 5, 0.01) << second;
  }
}

TEST_F(CopySavingsTest, WhatACopyCostsIsTakenOff) {
  for (int i = 0; i < 10; ++i) {
    hit(1, 100);
    hit(2, 60);
    for (int writes = 0; writes < 20; ++writes) {
      savings_.ended(key_of(1));
      savings_.filled(key_of(1));
    }
    pass_second();
  }
  const std::vector<CopySaving> best = top(50, {.fill = 2, .end = 1});
  ASSERT_THAT(best, SizeIs(2));
  EXPECT_EQ(best[0].key, key_of(2)) << "its copy is not ended by writes";
  EXPECT_NEAR(best[0].saved, 60, 0.1);
  EXPECT_NEAR(best[1].saved, 100 - 20 * 2 - 20, 0.1);
  EXPECT_THAT(top(50, {.fill = 4, .end = 2}), SizeIs(1)) << "the other costs more than it saves";
}

TEST_F(CopySavingsTest, OnlyTheBestAreListed) {
  for (std::uint32_t key = 1; key <= 100; ++key) hit(key, key);
  pass_second();
  const std::vector<CopySaving> best = top(3);
  ASSERT_THAT(best, SizeIs(3));
  EXPECT_EQ(best[0].key, key_of(100));
  EXPECT_EQ(best[2].key, key_of(98));
  const auto is_even = [](KeyHash key) { return key.value % 2 == 0; };
  const std::vector<CopySaving> even = savings_.top(3, kFree, now_, is_even);
  ASSERT_THAT(even, SizeIs(3));
  EXPECT_EQ(even[2].key, key_of(96)) << "others take the places of those that are not listed";
}

TEST_F(CopySavingsTest, AKeyThatIsNoLongerReadIsForgotten) {
  hit(1, 100);
  for (int i = 0; i < 10; ++i) pass_second();
  ASSERT_THAT(top(), SizeIs(1));
  for (int i = 0; i < 70; ++i) pass_second();
  EXPECT_THAT(top(), IsEmpty());
  EXPECT_EQ(savings_.keys(), 0U);
}

TEST_F(CopySavingsTest, FillsOfKeysWithoutHitsTakeNoMemory) {
  for (std::uint64_t key = 0; key < 1000; ++key) savings_.filled(key_of(key));
  EXPECT_EQ(savings_.keys(), 0U);
}

TEST_F(CopySavingsTest, SampledHitsStateTheirError) {
  // 1000 hits per second, one in 50 picked.
  Random random(1);
  int within = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    savings_ = CopySavings(now_);
    for (int second = 0; second < 30; ++second) {
      for (int i = 0; i < 1000; ++i)
        if (random.unit() < 0.02) hit(1, 1, 50);
      pass_second();
    }
    const CopySaving saving = top().at(0);
    EXPECT_GT(saving.hits_error, 50);
    EXPECT_LT(saving.hits_error, 150);
    within += std::abs(saving.hits - 1000) <= saving.hits_error ? 1 : 0;
  }
  EXPECT_GT(within, kRounds * 90 / 100);
  EXPECT_LT(within, kRounds) << "the error is wider than it has to be";
}

// Ten thousand keys that are read once per second each, and one that stands out.
TEST_F(CopySavingsTest, MemoryIsBoundedAndTheBestKeysStay) {
  std::uint64_t next = 1000;
  for (int second = 0; second < 60; ++second) {
    hit(1, 40);
    for (int i = 0; i < 10'000; ++i) {
      hit(next++);
      ASSERT_LE(savings_.keys(), CopySavings::kKeysMax);
    }
    pass_second();
  }
  ASSERT_FALSE(top().empty());
  EXPECT_EQ(top()[0].key, key_of(1));
  EXPECT_NEAR(top()[0].hits, 40, 0.1);
}

TEST_F(CopySavingsTest, TimeThatStandsStillGivesNoInfiniteRate) {
  hit(1);
  EXPECT_LE(top().at(0).hits, 4);
}

}  // namespace
}  // namespace heatsink::admit
