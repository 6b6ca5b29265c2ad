// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::admit {
namespace {

class ChooserTest : public testing::Test {
 protected:
  static KeyHash key(std::uint64_t number) { return KeyHash{Random(number).next()}; }

  static void read(Chooser& chooser, std::uint64_t number, TimePoint now = {}) {
    if (chooser.samples(key(number))) chooser.read(key(number), now);
  }
  static void write(Chooser& chooser, std::uint64_t number) {
    if (chooser.samples(key(number))) chooser.write(key(number));
  }
  static ChooserOptions options(double fill_cost = 1) {
    return {.copies = 1000, .costs = {.fill = fill_cost}};
  }
  static double best(const Chooser& chooser) {
    double best = -1;
    for (const Chooser::Estimate& each : chooser.estimates()) best = std::max(best, each.saved);
    return best;
  }
};

TEST_F(ChooserTest, AtFirstAKeyNeedsSomeReads) {
  const Chooser chooser(options());
  EXPECT_GT(chooser.choice().reads, 1U);
  EXPECT_NE(chooser.choice().reads, Choice::kNever);
}

TEST_F(ChooserTest, SamplesASmallShareOfTheKeysAlwaysTheSame) {
  const Chooser chooser({.copies = 64 * 256, .miniature_copies = 256});
  int sampled = 0;
  for (std::uint64_t i = 0; i < 64'000; ++i) sampled += chooser.samples(key(i)) ? 1 : 0;
  EXPECT_NEAR(sampled, 1000, 120);
}

TEST_F(ChooserTest, WithFewCopiesItSamplesAllKeys) {
  const Chooser chooser({.copies = 100});
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(chooser.samples(key(i)));
}

// Keys that are read once: no copy is ever read.
TEST_F(ChooserTest, WithoutRepetitionNothingIsCopied) {
  Chooser chooser(options());
  for (std::uint64_t i = 0; i < 100'000; ++i) read(chooser, i);
  EXPECT_LE(best(chooser), 0);
  EXPECT_GT(chooser.choice().reads, 1U);
}

// Each key is read twice in a row: the second read is a hit if the first one made the copy.
TEST_F(ChooserTest, TheCostOfAFillDecidesAboutKeysThatAreReadTwice) {
  Chooser free(options(0));
  Chooser dear(options(2));
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    read(free, i / 2);
    read(dear, i / 2);
  }
  EXPECT_EQ(free.choice().reads, 1U);
  EXPECT_NEAR(best(free), 0.5, 0.02);
  EXPECT_NE(dear.choice().reads, 1U);
  EXPECT_LE(best(dear), 0);
}

TEST_F(ChooserTest, WhatIsWrittenAsOftenAsReadIsNotCopied) {
  Chooser chooser({.copies = 1000, .costs = {.fill = 1, .end = 1}});
  Random random(3);
  const Zipf zipf(5000, 0.9);
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t number = zipf.rank(random);
    if (random.next() % 2 == 0) {
      write(chooser, number);
    } else {
      read(chooser, number);
    }
  }
  EXPECT_LT(best(chooser), 0.02);
  EXPECT_GT(chooser.choice().reads, 3U);
}

TEST_F(ChooserTest, FindsAgainWhatPaysWhenTheTrafficChanges) {
  Chooser chooser(options());
  for (std::uint64_t i = 0; i < 300'000; ++i) read(chooser, i);
  EXPECT_EQ(chooser.choice().reads, Choice::kNever);
  Random random(3);
  const Zipf zipf(5000, 1);
  for (int i = 0; i < 100'000; ++i) read(chooser, 1'000'000 + zipf.rank(random));
  EXPECT_NE(chooser.choice().reads, Choice::kNever);
  EXPECT_GT(best(chooser), 0.5);
}

// The first copies cost their fills before any of them has answered a read.
TEST_F(ChooserTest, AnEmptyCacheIsNotJudgedByItsFirstFills) {
  Random random(3);
  const Zipf zipf(20'000, 0.9);
  Chooser chooser(options(2));
  for (int i = 0; i < 20'000; ++i) {
    read(chooser, zipf.rank(random));
    ASSERT_NE(chooser.choice().reads, Choice::kNever) << "after " << i << " reads";
  }
  EXPECT_GT(best(chooser), 0.1);
}

// A loop over more keys than fit: SIEVE keeps some of them, CLOCK none in time.
TEST_F(ChooserTest, ALoopThatDoesNotFitIsKeptInPart) {
  Chooser chooser(options());
  for (std::uint64_t i = 0; i < 600'000; ++i) read(chooser, i % 1500);
  EXPECT_GT(best(chooser), 0.2);
}

// Copies of these keys live for 10 ms, and each is read every 20 ms.
TEST_F(ChooserTest, CopiesThatEndBeforeTheyAreReadDoNotPay) {
  Chooser chooser(options());
  for (std::uint64_t i = 0; i < 100; ++i) {
    if (chooser.samples(key(i))) chooser.filled(key(i), Millis(10));
  }
  TimePoint now{};
  for (int turn = 0; turn < 2000; ++turn) {
    for (std::uint64_t i = 0; i < 100; ++i) read(chooser, i, now);
    now += Millis(20);
  }
  EXPECT_LE(best(chooser), 0);
}

// A fill costs nine reads. Before anything is known, a key has to be read often, and soon.
TEST_F(ChooserTest, BeforeItKnowsADearCopyGoesToWhatIsReadOften) {
  const Costs dear{.fill = 9, .reads_to_pay = 10};
  const Chooser guesses({.copies = 1000, .costs = dear, .is_guess = true});
  EXPECT_EQ(guesses.choice(), ChooserOptions::kGuess);
  const Chooser cheap({.copies = 1000, .costs = {.fill = 1, .reads_to_pay = 2}, .is_guess = true});
  EXPECT_EQ(cheap.choice(), Choice{});
}

// 320 keys are read four times per second, and 2000 every two seconds. Copies live for ten seconds
// and have to answer ten reads: those of the first keys answer 40, those of the others five.
TEST_F(ChooserTest, WhatIsReadTooSeldomForItsCopiesIsForgottenInTime) {
  Chooser chooser({.copies = 65'536,
                   .costs = {.fill = 9, .reads_to_pay = 10},
                   .life = std::chrono::seconds(10),
                   .miniature_copies = 2048});
  TimePoint now{std::chrono::seconds(1)};
  std::uint64_t seldom = 0;
  for (int i = 0; i < 300 * 12; ++i, now += Nanos(Millis(1000)) / 12) {
    for (std::uint64_t often = 0; often < 320; ++often)
      if (often % 3 == static_cast<std::uint64_t>(i) % 3) read(chooser, often * 7, now);
    for (int each = 0; each < 83; ++each) read(chooser, 1'000'000 + seldom++ % 2000, now);
  }
  EXPECT_NE(chooser.choice().pace, Choice::kAnyPace);
  EXPECT_GT(best(chooser), 0.2);
  // 1000 reads of keys without copies come in a second, the pause of a key whose copies just pay.
  EXPECT_LT(chooser.history(), 6000U);
  EXPECT_GT(chooser.history(), 300U);
}

// All keys of the sample are read once, while the copies in fact answer half of all reads.
TEST_F(ChooserTest, CopiesThatPayInFactAreNotGivenUpForWhatTheSampleSays) {
  Chooser in_fact(options());
  Chooser sampled(options());
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (i % 1000 == 0) in_fact.measured({.reads = 10'000, .hits = 5000, .fills = 1000});
    read(in_fact, i);
    read(sampled, i);
  }
  EXPECT_NE(in_fact.choice().reads, Choice::kNever);
  EXPECT_EQ(sampled.choice().reads, Choice::kNever);
  for (std::uint64_t i = 20'000; i < 40'000; ++i) {
    if (i % 1000 == 0) in_fact.measured({.reads = 10'000, .hits = 1000, .fills = 1000});
    read(in_fact, i);
  }
  EXPECT_EQ(in_fact.choice().reads, Choice::kNever) << "they do not pay any more";
}

}  // namespace
}  // namespace heatsink::admit
