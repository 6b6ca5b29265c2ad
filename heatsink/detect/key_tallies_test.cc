// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_tallies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/detect/key_rows_for_test.h"

namespace heatsink::detect {
namespace {

class NumberNames final : public TallyNames {
 public:
  std::string command(std::uint16_t number) const override { return std::to_string(number); }
  std::string client(std::uint32_t number) const override { return std::to_string(number); }
};

AccessLog::Entry entry_with(std::uint16_t command) {
  return {.tag = 1, .amount = {}, .db = 0, .client = 5, .command = command, .name_size = 0};
}

TEST(KeyTallies, WithoutNamesNoAccessIsInTheSample) {
  Sampler sampler(UINT64_MAX, 1);
  KeyTallies tallies(nullptr, 0);
  tallies.follow(sampler);
  EXPECT_FALSE(tallies.takes_one_of(std::uint64_t{1} << 60));
  EXPECT_FALSE(tallies.takes());
  KeyRows rows(1, Dimension::kRequests);
  put(rows, 0, 1, 1);
  tallies.give_rows(rows, std::vector<std::uint32_t>{0});
  EXPECT_EQ(rows.details(0).tallies, TallyBoard::kNoRow);
}

TEST(KeyTallies, AtALowRateEachAccessIsCounted) {
  const NumberNames names;
  Sampler sampler(UINT64_MAX, 1);
  KeyTallies tallies(&names, 100'000);
  KeyRows rows(1, Dimension::kRequests);
  put(rows, 0, 1, 30);
  tallies.give_rows(rows, std::vector<std::uint32_t>{0});
  for (std::uint16_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(tallies.takes_one_of(1));
    ASSERT_TRUE(tallies.takes());
    tallies.add(rows.details(0), entry_with(i % 3 == 0 ? 2 : 1), sampler);
  }
  KeyCount told;
  told.reads = told.low = told.high = 30;
  tallies.tell(rows.details(0), Dimension::kRequests, told);
  EXPECT_EQ(told.commands, (std::vector<Tally>{{"1", 20, 20}, {"2", 10, 10}}));
  EXPECT_EQ(told.clients, (std::vector<Tally>{{"5", 30, 30}}));
}

TEST(KeyTallies, AccessesBeforeTheNextOfTheSampleAreCountedAtOnce) {
  const NumberNames names;
  Sampler sampler(UINT64_MAX, 1);
  sampler.move_to(TimePoint(std::chrono::seconds(1)), 0);
  sampler.move_to(TimePoint(std::chrono::seconds(2)), 10'000'000);
  KeyTallies tallies(&names, 100'000);
  std::uint64_t taken = 0, seen = 0;
  for (tallies.follow(sampler); seen < 64'000; ++seen) {
    if (!tallies.takes_one_of(8)) {
      tallies.pass(8);
      seen += 7;
    } else if (tallies.takes()) {
      ++taken;
      tallies.add(Details{}, entry_with(1), sampler);
    }
  }
  // One in 64; the bounds are ten standard deviations.
  EXPECT_GT(taken, 684U);
  EXPECT_LT(taken, 1316U);
}

TEST(KeyTallies, TheBusiestKeysHaveTheRows) {
  const NumberNames names;
  KeyTallies tallies(&names, 100'000);
  constexpr std::uint32_t kKeys = 600;
  KeyRows rows(kKeys, Dimension::kRequests);
  std::vector<std::uint32_t> busiest;
  busiest.reserve(kKeys);
  for (std::uint32_t key = 0; key < kKeys; ++key) {
    put(rows, key, key + 1, 1);
    busiest.push_back(key);
  }
  const auto count_rows = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t count = 0;
    for (std::uint32_t key = from; key < to; ++key)
      if (rows.details(key).tallies != TallyBoard::kNoRow) ++count;
    return count;
  };
  tallies.give_rows(rows, busiest);
  const std::uint32_t all = count_rows(0, kKeys);
  ASSERT_GT(all, 1U);
  ASSERT_LE(all, 255U);
  EXPECT_EQ(count_rows(0, all), all);
  const std::uint8_t row_of_the_first = rows.details(0).tallies;
  std::swap(busiest[1], busiest[kKeys - 1]);
  tallies.give_rows(rows, busiest);
  EXPECT_EQ(rows.details(0).tallies, row_of_the_first);
  EXPECT_NE(rows.details(kKeys - 1).tallies, TallyBoard::kNoRow);
  EXPECT_EQ(rows.details(1).tallies, TallyBoard::kNoRow);
  EXPECT_EQ(count_rows(0, kKeys), all);
}

}  // namespace
}  // namespace heatsink::detect
