// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/savings_in_fact.h"

#include <gtest/gtest.h>

namespace heatsink::admit {
namespace {

constexpr Costs kCosts{.fill = 2, .end = 3};
constexpr Miniature::Counts kLoses{.reads = 10'000, .hits = 900, .fills = 500};
constexpr Miniature::Counts kPays{.reads = 10'000, .hits = 5000, .fills = 500};
constexpr int kToLose = 15;  // seconds: ten of the copies' life, and five

class SavingsInFactTest : public testing::Test {
 protected:
  void note(const Miniature::Counts& counts, int seconds) {
    for (int i = 0; i < seconds; ++i) facts_.note(counts, kCosts);
  }

  SavingsInFact facts_{std::chrono::seconds(10)};
};

TEST_F(SavingsInFactTest, CopiesLoseOnlyAfterTheirLife) {
  note(kLoses, kToLose - 1);
  EXPECT_FALSE(facts_.loses());
  note(kLoses, 1);
  EXPECT_TRUE(facts_.loses());
}

TEST_F(SavingsInFactTest, ALongLifeCountsAsAMinute) {
  SavingsInFact patient(std::chrono::hours(1));
  for (int i = 0; i < 64; ++i) patient.note(kLoses, kCosts);
  EXPECT_FALSE(patient.loses());
  patient.note(kLoses, kCosts);
  EXPECT_TRUE(patient.loses());
}

// They are filled, answer for a while, and change places.
TEST_F(SavingsInFactTest, SecondsThatPayBeginItAnew) {
  for (int i = 0; i < 5; ++i) {
    note(kLoses, kToLose - 1);
    note(kPays, 5);
  }
  note(kLoses, kToLose - 1);
  EXPECT_FALSE(facts_.loses());
}

TEST_F(SavingsInFactTest, TheEndsOfCopiesCost) {
  const Miniature::Counts ended{.reads = 10'000, .hits = 2000, .fills = 400, .ended = 500};
  note(ended, kToLose);
  EXPECT_TRUE(facts_.loses());
  EXPECT_DOUBLE_EQ(facts_.saved(kCosts), (2000 - 2 * 400 - 3 * 500) / 10'000.0);
}

// New keys are filled once a minute, and answer for the rest of it.
TEST_F(SavingsInFactTest, SecondsThatPayWithoutAFillBeginItAnew) {
  for (int minute = 0; minute < 20; ++minute) {
    note({.reads = 10'000, .hits = 5000, .fills = 20'000}, 1);
    note({.reads = 10'000, .hits = 5000}, 59);
  }
  EXPECT_GT(facts_.saved(kCosts), 0.4);
  EXPECT_FALSE(facts_.loses());
}

// The tracker is away: that copies cannot be made says nothing of what they would save.
TEST_F(SavingsInFactTest, SecondsWithoutFillsSayNothing) {
  note(kPays, 10);
  note({.reads = 10'000}, 100);
  EXPECT_FALSE(facts_.loses());
  note(kLoses, kToLose - 1);
  EXPECT_FALSE(facts_.loses());
  note({.reads = 10'000}, 10);
  note(kLoses, 1);
  EXPECT_TRUE(facts_.loses());
}

TEST_F(SavingsInFactTest, AFewReadsShowNothing) {
  note({.reads = 300, .fills = 300}, 100);
  EXPECT_FALSE(facts_.loses());
  EXPECT_EQ(facts_.saved(kCosts), 0);
}

TEST_F(SavingsInFactTest, WhatWasGivenUpIsDoubtedForMinutes) {
  note(kLoses, kToLose);
  EXPECT_EQ(facts_.doubt(), 0);
  facts_.give_up(0.1);
  EXPECT_FALSE(facts_.loses());
  EXPECT_EQ(facts_.doubt(), 0.2);
  note({}, 120);
  EXPECT_NEAR(facts_.doubt(), 0.1, 0.001);
  facts_.give_up(0.02);
  EXPECT_NEAR(facts_.doubt(), 0.1, 0.001) << "the higher one stays";
}

TEST_F(SavingsInFactTest, CopiesThatBeginAreNewToIt) {
  note(kLoses, kToLose - 1);
  facts_.begin();
  note(kLoses, 1);
  EXPECT_FALSE(facts_.loses());
}

}  // namespace
}  // namespace heatsink::admit
