// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/exact_window.h"

#include <gtest/gtest.h>

#include <random>

#include "heatsink/detect/detect.h"
#include "heatsink/replay/key_mix.h"

namespace heatsink::replay {
namespace {

TEST(ExactWindow, CountsWhatABruteForceCountSays) {
  constexpr std::int64_t kSlot = 100;
  std::mt19937_64 random(5);
  std::vector<TraceAccess> accesses;
  std::int64_t at = 0;
  for (int i = 0; i < 3000; ++i) {
    at += static_cast<std::int64_t>(random() % 3 == 0 ? random() % 400 : random() % 5);
    accesses.emplace_back(at, static_cast<std::uint32_t>(random() % 7),
                          random() % 4 == 0 ? Operation::kWrite : Operation::kGet, 0U);
  }
  ExactWindow window(accesses, 7, Nanos(10 * kSlot), 10);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint32_t said = window.add();
    const std::int64_t begin = (accesses[i].at_ns / kSlot - 9) * kSlot;
    std::vector<std::uint32_t> counts(7), writes(7);
    std::uint64_t all = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      if (accesses[j].at_ns < begin) continue;
      ++counts[accesses[j].key];
      if (accesses[j].operation() == Operation::kWrite) ++writes[accesses[j].key];
      ++all;
    }
    ASSERT_EQ(said, counts[accesses[i].key]);
    ASSERT_EQ(window.requests(), all);
    for (std::uint32_t key = 0; key < 7; ++key) {
      ASSERT_EQ(window.count(key), counts[key]);
      ASSERT_EQ(window.writes(key), writes[key]);
    }
    std::sort(counts.rbegin(), counts.rend());
    for (std::size_t n = 1; n <= 7; ++n) ASSERT_EQ(window.nth(n), counts[n - 1]);
  }
}

TEST(ExactWindow, TimePassesWithoutAccesses) {
  const std::vector<TraceAccess> accesses{{0, 0, Operation::kGet, 0}, {50, 0, Operation::kGet, 0}};
  ExactWindow window(accesses, 1, Nanos(100), 10);
  window.add();
  EXPECT_EQ(window.add(), 2u);
  window.advance(105);
  EXPECT_EQ(window.count(0), 1u);
  window.advance(10'000);
  EXPECT_EQ(window.count(0), 0u);
  EXPECT_EQ(window.nth(1), 0u);
}

TEST(KeyMix, LeadsBack) {
  for (const std::uint32_t key : {0U, 1U, 77U, 1'000'000U, 4'294'967'294U}) {
    EXPECT_EQ(key_of_hash(hash_of_key(key)), key);
    EXPECT_NE(hash_of_key(key).value, 0u);
  }
}

}  // namespace
}  // namespace heatsink::replay
