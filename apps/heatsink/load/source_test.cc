// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/source.h"

#include <gtest/gtest.h>

#include <set>

namespace heatsink::app {
namespace {

constexpr TimePoint kNow{std::chrono::hours(1)};

TEST(PreloadSource, TogetherTheWorkersWriteEveryKeyOnce) {
  std::multiset<std::uint64_t> ranks;
  for (std::uint64_t worker = 0; worker < 3; ++worker) {
    PreloadSource source(worker, 3, 10);
    while (const auto operation = source.next(kNow)) {
      EXPECT_TRUE(operation->write);
      ranks.insert(operation->rank);
      EXPECT_FALSE(source.done());
      source.answered();
    }
    EXPECT_TRUE(source.done());
  }
  EXPECT_EQ(ranks.size(), 10u);
  EXPECT_EQ(std::set<std::uint64_t>(ranks.begin(), ranks.end()).size(), 10u);
}

TEST(PreloadSource, WhatWasLostComesAgain) {
  PreloadSource source(0, 1, 1);
  const auto operation = source.next(kNow);
  ASSERT_TRUE(operation);
  EXPECT_FALSE(source.next(kNow));
  source.lost(*operation);
  EXPECT_EQ(source.next(kNow)->rank, 0u);
  EXPECT_FALSE(source.done());
}

TEST(PreloadSource, AWorkerWithoutKeysIsDone) { EXPECT_TRUE(PreloadSource(5, 8, 3).done()); }

TEST(MixedSource, MixesReadsAndWritesAsAsked) {
  const Zipf zipf(1000, 0.99);
  MixedSource source(zipf, 0.1, Random(3), Pacer(0, kNow));
  int writes = 0, first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto operation = source.next(kNow);
    writes += operation->write ? 1 : 0;
    first += operation->rank == 0 ? 1 : 0;
  }
  EXPECT_NEAR(writes, 1000, 120);
  EXPECT_NEAR(first, 1300, 150);  // 1 / the 1000th generalised harmonic number is 0.1303
}

TEST(MixedSource, TheSameSeedGivesTheSameOperations) {
  const Zipf zipf(1000, 0.99);
  MixedSource one(zipf, 0.1, Random(3), Pacer(0, kNow)), two(zipf, 0.1, Random(3), Pacer(0, kNow));
  for (int i = 0; i < 1000; ++i) {
    const auto a = one.next(kNow), b = two.next(kNow);
    ASSERT_EQ(a->rank, b->rank);
    ASSERT_EQ(a->write, b->write);
  }
}

TEST(MixedSource, TogetherTheWorkersPlayAListInItsOrderAndThenAgain) {
  const KeyList list("a\nb\na\nc\nd");
  std::vector<MixedSource> workers;
  for (std::size_t i = 0; i < 2; ++i)
    workers.emplace_back(ListOrder(list, i, 2), 0, Random(3), Pacer(0, kNow));
  std::string played;
  for (std::size_t i = 0; i < 10; ++i) played += list.name(workers[i % 2].next(kNow)->rank);
  EXPECT_EQ(played, "abacdabacd");
}

TEST(MixedSource, WritesToTheKeysOfAList) {
  const KeyList list("a\nb");
  MixedSource source(ListOrder(list, 0, 1), 0.1, Random(3), Pacer(0, kNow));
  int writes = 0;
  for (int i = 0; i < 10'000; ++i) writes += source.next(kNow)->write ? 1 : 0;
  EXPECT_NEAR(writes, 1000, 120);
}

TEST(ListOrder, MoreWorkersThanLinesPlayAllTheSame) {
  const KeyList list("a\nb\nc");
  ListOrder order(list, 7, 8);
  EXPECT_EQ(list.name(order.rank()), "b");
  EXPECT_EQ(list.name(order.rank()), "a");
}

}  // namespace

namespace {

constexpr TimePoint kStart{std::chrono::hours(5)};

int due_by(Pacer& pacer, TimePoint now) {
  int count = 0;
  while (pacer.next(now)) ++count;
  return count;
}

TEST(Pacer, GivesTheRateAndNoMore) {
  Pacer pacer(1000, kStart);
  int count = 0;
  for (int ms = 0; ms < 10'000; ++ms) count += due_by(pacer, kStart + Millis(ms));
  EXPECT_EQ(count, 10'000);
  EXPECT_EQ(pacer.given_up(), 0u);
}

TEST(Pacer, AnOperationIsDueWhenItWasDueNotWhenAsked) {
  Pacer pacer(100, kStart);
  ASSERT_TRUE(pacer.next(kStart));
  EXPECT_FALSE(pacer.next(kStart + Millis(9)));
  EXPECT_EQ(pacer.next(kStart + Millis(500)), kStart + Millis(10));
}

TEST(Pacer, AnOutageIsNotFollowedByAFlood) {
  Pacer pacer(1000, kStart);
  EXPECT_EQ(due_by(pacer, kStart + std::chrono::seconds(60)), 1001);
  EXPECT_EQ(pacer.given_up(), 59'000u);
}

TEST(Pacer, WithoutARateEverythingIsDueNow) {
  Pacer pacer(0, kStart);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pacer.next(kStart), kStart);
}

}  // namespace

}  // namespace heatsink::app
