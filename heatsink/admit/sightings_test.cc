// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/sightings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heatsink/base/random.h"

namespace heatsink::admit {
namespace {

constexpr std::uint64_t kLong = 1'000'000;

class SightingsTest : public testing::Test {
 protected:
  static KeyHash key(std::uint64_t number) { return KeyHash{Random(number).next()}; }
  std::uint32_t see(std::uint64_t number, std::uint64_t history = kLong) {
    return counter_.see(key(number), history);
  }

  Sightings all_{1024};
  SightingCounter counter_{all_};
};

TEST_F(SightingsTest, CountsTheReadsOfAKey) {
  EXPECT_EQ(see(1), 1U);
  EXPECT_EQ(see(2), 1U);
  EXPECT_EQ(see(1), 2U);
  EXPECT_EQ(see(1), 3U);
}

TEST_F(SightingsTest, CountsToItsMaximum) {
  for (std::uint32_t i = 1; i < Sightings::kCountMax; ++i) EXPECT_EQ(see(1), i);
  EXPECT_EQ(see(1), Sightings::kCountMax);
  EXPECT_EQ(see(1), Sightings::kCountMax);
}

TEST_F(SightingsTest, AWrittenKeyCountsFromTheBeginning) {
  see(1);
  see(1);
  see(2);
  all_.forget(key(1));
  EXPECT_EQ(see(1), 1U);
  EXPECT_EQ(see(2), 2U) << "another key keeps its count";
}

TEST_F(SightingsTest, AReadThatIsTooLongAgoDoesNotCount) {
  see(1, 500);
  for (int i = 0; i < 400; ++i) see(2, 500);
  EXPECT_EQ(see(1, 500), 2U);
  for (int i = 0; i < 600; ++i) see(2, 500);
  EXPECT_EQ(see(1, 500), 1U);
}

TEST_F(SightingsTest, RemembersAboutAsManyKeysAsItHasRoomFor) {
  const std::size_t keys = all_.keys();
  for (std::uint64_t i = 0; i < keys / 2; ++i) see(i);
  std::size_t remembered = 0;
  for (std::uint64_t i = 0; i < keys / 2; ++i) remembered += see(i) == 2 ? 1U : 0U;
  EXPECT_GT(remembered, keys / 2 * 97 / 100);
  EXPECT_LE(remembered, keys / 2);
}

TEST_F(SightingsTest, AFullSetForgetsTheKeyThatWasSeenLongestAgo) {
  for (int turn = 0; turn < 3; ++turn) {
    see(1);
    for (std::uint64_t i = 0; i < all_.keys() / 4; ++i)
      see(10 + i + static_cast<std::uint64_t>(turn) * all_.keys());
  }
  EXPECT_EQ(see(1), 4U);
}

TEST_F(SightingsTest, AKeyIsNotYoungAgainWhenItsTicksHaveWrapped) {
  see(1, kLong);
  // Within one wrap of the ticks, less a little: the key looks as old as it can.
  for (std::size_t i = 0; i < all_.keys() * 15; ++i) see(2 + i % 4, kLong);
  EXPECT_EQ(see(1, kLong), 1U);
}

TEST_F(SightingsTest, ThreadsShareTheCounts) {
  std::atomic<std::uint32_t> highest{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      SightingCounter mine(all_);
      for (std::uint64_t i = 0; i < 10'000; ++i) {
        const std::uint32_t count = mine.see(key(i % 100), kLong);
        std::uint32_t before = highest.load();
        while (before < count && !highest.compare_exchange_weak(before, count)) {
        }
        if (i % 7 == 0) all_.forget(key(i % 100));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(highest.load(), 1U);
  EXPECT_LE(highest.load(), Sightings::kCountMax);
}

}  // namespace
}  // namespace heatsink::admit
