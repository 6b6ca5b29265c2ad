// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

const LimiterOptions kFivePerSecond{.rate = {5, 1s}, .burst = 5};

// Alike random, as hashes are: the finalizer of MurmurHash3.
std::uint64_t hashed(std::uint64_t n) {
  n = (n ^ (n >> 33)) * 0xff51afd7ed558ccdULL;
  n = (n ^ (n >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return n ^ (n >> 33);
}

std::uint64_t passed(LimiterTable& table, std::uint64_t key, int asked, TimePoint now) {
  std::uint64_t sum = 0;
  for (int i = 0; i < asked; ++i) sum += table.of(key, now).try_acquire(1, now).allowed ? 1U : 0U;
  return sum;
}

TEST(LimiterTable, EachKeyHasALimiterOfItsOwn) {
  LimiterTable table(kFivePerSecond, 64);
  EXPECT_EQ(passed(table, hashed(1), 10, kStart), 5U);
  EXPECT_EQ(passed(table, hashed(2), 10, kStart), 5U);
  EXPECT_EQ(passed(table, hashed(1), 10, kStart), 0U);
  EXPECT_EQ(passed(table, hashed(1), 10, kStart + 1s), 5U);
}

TEST(LimiterTable, ZeroIsAKeyToo) {
  LimiterTable table(kFivePerSecond, 64);
  EXPECT_EQ(passed(table, 0, 10, kStart), 5U);
  EXPECT_EQ(passed(table, 0, 10, kStart), 0U);
}

TEST(LimiterTable, PlacesAreRoundedUp) {
  EXPECT_EQ(LimiterTable(kFivePerSecond, 1).entries(), 8U);
  EXPECT_EQ(LimiterTable(kFivePerSecond, 65).entries(), 128U);
}

// A clock that gave up any place in turn would give the key its burst again and again.
TEST(LimiterTable, NewKeysNeverMakeRoomForAKeyAtItsLimit) {
  LimiterTable table(kFivePerSecond, 64);
  const std::uint64_t hot = hashed(0);
  EXPECT_EQ(passed(table, hot, 10, kStart), 5U);
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    ASSERT_EQ(passed(table, hashed(i), 1, kStart), 1U);
    ASSERT_EQ(passed(table, hot, 1, kStart), 0U) << i;
  }
}

TEST(LimiterTable, FindNeverMakesRoomAndDropForgets) {
  LimiterTable table(kFivePerSecond, 64);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(passed(table, 7, 10, kStart), 5U);
  ASSERT_NE(table.find(7), nullptr);
  EXPECT_FALSE(table.find(7)->try_acquire(1, kStart).allowed);
  table.drop(7);
  table.drop(8);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(passed(table, 7, 10, kStart), 5U);
}

// Threads that meet a key for the first time must not each give it a bucket.
TEST(LimiterTable, ThreadsThatMeetGiveAKeyOnePlace) {
  constexpr std::uint64_t kKeys = 500;
  constexpr int kThreads = 4;
  LimiterTable table({.rate = {1, 1h}, .burst = 10}, 16 * kKeys);
  std::vector<std::atomic<int>> allowed(kKeys);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t key = 0; key < kKeys; ++key)
        for (int i = 0; i < 10; ++i)
          allowed[key] += table.of(hashed(key), kStart).try_acquire(1, kStart).allowed ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t key = 0; key < kKeys; ++key) EXPECT_EQ(allowed[key], 10) << key;
  for (std::uint64_t key = 0; key < kKeys; ++key)
    EXPECT_EQ(passed(table, hashed(key), 1, kStart), 0U) << key;
}

}  // namespace
}  // namespace heatsink::limit
