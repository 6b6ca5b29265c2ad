// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatsink::heat {
namespace {

using std::chrono::seconds;

struct Seen {
  std::string name;
  double rate;
};

// The counts of the second that ends at `second`.
Moment second_of(std::int64_t second, const std::vector<Seen>& keys, double unnamed_max = 1) {
  Moment moment;
  moment.at = TimePoint(seconds(second));
  moment.unnamed_max[0] = unnamed_max;
  for (const Seen& key : keys) {
    Item item;
    item.identity.name = key.name;
    item.rate = key.rate;
    item.hits = key.rate / 2;
    item.bytes = key.rate * 4096;
    moment.totals.requests += key.rate;
    moment.items.push_back(item);
  }
  return moment;
}

History::Range between(std::int64_t from, std::int64_t to) {
  return {.from = TimePoint(seconds(from)), .to = TimePoint(seconds(to))};
}

double shown(const HeatMap& map, const std::string& name, std::size_t step) {
  for (const HeatMap::Row& row : map.rows)
    if (row.identity.name == name) return rate_of(row.mean[step]);
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(History, EachSecondIsAColumnAndEachKeyARow) {
  History history;
  history.add(second_of(1001, {{"a", 1000}, {"b", 10}}));
  history.add(second_of(1002, {{"a", 2000}}));
  const HeatMap map = history.read(between(900, 1100));
  EXPECT_EQ(map.step, seconds(1));
  ASSERT_EQ(map.steps.size(), 2U);
  EXPECT_EQ(map.steps[0].begin, TimePoint(seconds(1000)));
  EXPECT_EQ(map.steps[1].totals[0], 2000);
  ASSERT_EQ(map.rows.size(), 2U);
  EXPECT_EQ(map.rows[0].identity.name, "a");
  EXPECT_NEAR(shown(map, "a", 1), 2000, 60);
  EXPECT_NEAR(shown(map, "b", 0), 10, 0.3);
  EXPECT_EQ(shown(map, "b", 1), 0) << "that second does not name it: unnamed_max bounds it";
  EXPECT_NEAR(rate_of(map.rows[0].hits[0]), 500, 15);
  EXPECT_NEAR(bytes_of(map.rows[0].bytes[0]), 4'096'000, 0.045 * 4'096'000);
}

TEST(History, OneSecondIsCountedOnce) {
  History history;
  history.add(second_of(1001, {{"a", 1000}}));
  history.add(second_of(1001, {{"a", 9}}));
  history.add(second_of(1000, {{"a", 9}}));
  EXPECT_EQ(history.read(between(900, 1100)).steps.size(), 1U);
}

TEST(History, ASecondIsKeptForTenMinutesAndThenInsideTenSeconds) {
  History history;
  for (std::int64_t second = 10'001; second <= 11'000; ++second)
    history.add(second_of(second, {{"a", second <= 10'010 ? 800.0 : 100.0}}));
  const HeatMap fine = history.read(between(10'400, 11'000));
  EXPECT_EQ(fine.step, seconds(1));
  EXPECT_EQ(fine.steps.size(), 600U);
  const HeatMap coarse = history.read(between(10'000, 11'000));
  EXPECT_EQ(coarse.step, seconds(10));
  ASSERT_EQ(coarse.steps.size(), 99U) << "the last step is not complete yet";
  EXPECT_EQ(coarse.steps.front().begin, TimePoint(seconds(10'000)));
  EXPECT_NEAR(shown(coarse, "a", 0), 800, 24);
  EXPECT_NEAR(shown(coarse, "a", 1), 100, 3);
}

TEST(History, AWeekIsKeptInTenMinuteSteps) {
  History history;
  constexpr std::int64_t kWeek = 7 * 24 * 3600;
  // One second of each minute stands for it: what was not counted has no weight.
  for (std::int64_t second = 1; second <= kWeek + 86'400; second += 60)
    history.add(second_of(second, {{"a", 300}}));
  const HeatMap map = history.read(between(86'400, kWeek + 86'400));
  EXPECT_EQ(map.step, seconds(600));
  EXPECT_GE(map.steps.size(), 1006U);
  EXPECT_NEAR(shown(map, "a", 500), 300, 9);
}

TEST(History, AShortPeakIsInTheMaximumOfItsStep) {
  History history;
  for (std::int64_t second = 1; second <= 21; ++second)
    history.add(second_of(second, {{"a", second == 5 ? 5000.0 : 100.0}}));
  History::Range range = between(0, 21);
  range.step_s = 10;
  const HeatMap map = history.read(range);
  ASSERT_EQ(map.steps.size(), 2U);
  EXPECT_NEAR(rate_of(map.rows[0].mean[0]), 590, 18);
  EXPECT_NEAR(rate_of(map.rows[0].max[0]), 5000, 150);
  EXPECT_EQ(map.steps[0].requests_max, 5000);
  EXPECT_NEAR(rate_of(map.rows[0].max[1]), 100, 3);
}

TEST(History, AReaderGoesOnWhereItStopped) {
  History history;
  for (std::int64_t second = 101; second <= 105; ++second) history.add(second_of(second, {}));
  History::Range range = between(0, 200);
  range.step_s = 1;
  range.after = history.read(range).steps.back().number;
  EXPECT_TRUE(history.read(range).steps.empty());
  history.add(second_of(107, {}));
  const HeatMap next = history.read(range);
  ASSERT_EQ(next.steps.size(), 1U);
  EXPECT_EQ(next.steps[0].number, 106);
}

TEST(History, TheNamedAndTheRestAreTheTotal) {
  History history;
  std::vector<Seen> keys;
  for (int i = 0; i < 64; ++i) keys.push_back({"key:" + std::to_string(i), 64.0 - i});
  for (std::int64_t second = 1; second <= 11; ++second) history.add(second_of(second, keys));
  History::Range range = between(0, 20);
  range.step_s = 10;
  const HeatMap map = history.read(range);
  double named = 0;
  for (const HeatMap::Row& row : map.rows) named += rate_of(row.mean[0]);
  EXPECT_NEAR(named / static_cast<double>(map.steps[0].totals[0]), 1, 0.03);
}

// Keys that change all the time push each other out of a longer step; its bound says how much any
// of them may have had.
TEST(History, ALongerStepBoundsWhatItDoesNotName) {
  History history;
  for (std::int64_t second = 1; second <= 11; ++second) {
    std::vector<Seen> keys;
    for (int i = 0; i < 64; ++i)
      keys.push_back({std::to_string(second) + ":" + std::to_string(i), 100});
    history.add(second_of(second, keys, 5));
  }
  History::Range range = between(0, 20);
  range.step_s = 10;
  const HeatMap map = history.read(range);
  EXPECT_EQ(map.rows.size(), 64U);
  EXPECT_NEAR(map.steps[0].unnamed_max[0], 10 + 5, 1)
      << "a tenth of 100/s, and in its other seconds the bound of those";
}

TEST(History, NamesThatWereNeverBusyAreForgottenFirst) {
  History history(100);
  for (std::int64_t second = 1; second <= 300; ++second)
    history.add(second_of(second, {{"always", 10'000}, {std::to_string(second), 20}}));
  const HeatMap map = history.read(between(0, 300));
  EXPECT_EQ(map.steps.size(), 300U);
  EXPECT_LE(map.rows.size(), 100U);
  EXPECT_NEAR(shown(map, "always", 0), 10'000, 300);
  EXPECT_NEAR(shown(map, "300", 299), 20, 0.6) << "the newest one is there";
  EXPECT_GE(map.steps[5].unnamed_max[0], 19) << "the bound holds for a forgotten one";
}

// The column that is being made is in no tier yet, so its names would look as if nothing had them.
TEST(History, NamesOfTheNewestColumnAreNotForgotten) {
  History history(16);
  for (std::int64_t second = 1; second <= 20; ++second) {
    std::vector<Seen> keys;
    for (int i = 0; i < 10; ++i)
      keys.push_back({std::to_string(second) + ":" + std::to_string(i), 100.0 * (i + 1)});
    history.add(second_of(second, keys));
    const HeatMap map = history.read(between(second - 1, second));
    for (const Seen& key : keys)
      EXPECT_NEAR(shown(map, key.name, map.steps.size() - 1), key.rate, 0.03 * key.rate)
          << key.name;
  }
}

TEST(History, RowsAreLimited) {
  History history;
  std::vector<Seen> keys;
  for (int i = 0; i < 64; ++i) keys.push_back({"key:" + std::to_string(i), 64.0 - i});
  history.add(second_of(1, keys));
  History::Range range = between(0, 20);
  range.rows_max = 3;
  const HeatMap map = history.read(range);
  ASSERT_EQ(map.rows.size(), 3U);
  EXPECT_EQ(map.rows[2].identity.name, "key:2");
}

// A node has more commands than any key, and would take its row.
TEST(History, RowsAreLimitedByKind) {
  History history;
  Moment moment = second_of(1, {});
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < 10; ++i) {
      const Identity identity{.kind = static_cast<Kind>(kind), .name = std::to_string(i)};
      moment.items.push_back(
          {.identity = identity, .rate = 1000.0 * static_cast<double>(kind) + 100 - i});
    }
  }
  history.add(moment);
  History::Range range = between(0, 20);
  range.rows_max = 3;
  const HeatMap map = history.read(range);
  ASSERT_EQ(map.rows.size(), 15U);
  EXPECT_EQ(map.rows[0].identity.kind, Kind::kClient) << "the busiest first";
  EXPECT_EQ(map.rows[12].identity.kind, Kind::kKey);
  EXPECT_EQ(map.rows[14].identity.name, "2");
}

TEST(History, RowsOfAllKindsAreLimited) {
  History history;
  for (int second = 1; second <= 10; ++second) {
    Moment moment = second_of(second, {});
    for (int i = 0; i < 96; ++i) {
      const Kind kind = i < 64 ? Kind::kKey : Kind::kTemplate;
      const std::string name = std::to_string(second) + ":" + std::to_string(i);
      moment.items.push_back({.identity = {.kind = kind, .name = name}, .rate = 1 + i * 10.0});
    }
    history.add(moment);
  }
  History::Range range = between(0, 20);
  range.rows_max = History::kRowsMax;
  const HeatMap map = history.read(range);
  EXPECT_EQ(map.rows.size(), History::kRowsMax);
  const auto is_key = [](const HeatMap::Row& row) { return row.identity.kind == Kind::kKey; };
  EXPECT_EQ(std::ranges::count_if(map.rows, is_key), 128);
}

// A week without a cluster: 64 keys, 32 templates and 16 clients in each column.
TEST(History, AWeekTakesAboutFourMegabytes) {
  History history;
  Moment moment = second_of(1, {});
  for (const Kind kind : {Kind::kKey, Kind::kTemplate, Kind::kClient})
    for (std::size_t i = 0; i < kPerMoment[static_cast<std::size_t>(kind)]; ++i)
      moment.items.push_back({.identity = {.kind = kind, .name = std::to_string(i)}, .rate = 9});
  for (std::int64_t second = 1; second <= 8 * 24 * 3600; second += 8) {
    moment.at = TimePoint(seconds(second));
    history.add(moment);
  }
  EXPECT_EQ(history.read(between(2 * 86'400, 8 * 86'400)).step, seconds(600));
  EXPECT_LT(history.memory_bytes(), 4'200'000U);
  EXPECT_GT(history.memory_bytes(), 3'900'000U) << "all tiers are full";
}

TEST(History, MemoryIsBounded) {
  History history;
  for (std::int64_t second = 1; second <= 3000; ++second) {
    std::vector<Seen> keys;
    for (int i = 0; i < 64; ++i)
      keys.push_back(
          {std::to_string(second) + ":" + std::to_string(i) + std::string(200, 'x'), 100});
    history.add(second_of(second, keys));
  }
  EXPECT_LT(history.memory_bytes(), 8'000'000U);
}

TEST(History, AListenerGetsWhatWasAdded) {
  History history;
  std::vector<TimePoint> heard;
  history.listen([&heard](const Moment& moment) { heard.push_back(moment.at); });
  history.add(second_of(1001, {{"a", 1}}));
  history.add(second_of(1001, {{"a", 1}}));
  history.add(second_of(1002, {{"a", 1}}));
  EXPECT_EQ(heard, (std::vector{TimePoint(seconds(1001)), TimePoint(seconds(1002))}));
}

TEST(History, BeginsWithItsOldestColumn) {
  History history;
  for (std::int64_t second = 1; second <= 700; ++second)
    history.add(second_of(1000 + second, {{"a", 1}}));
  EXPECT_EQ(history.begins(), TimePoint(seconds(1000))) << "the seconds are gone, not the minutes";
}

TEST(History, NothingIsReadBeforeTheFirstSecond) {
  const History history;
  EXPECT_FALSE(history.begins());
  const HeatMap map = history.read(between(0, 1000));
  EXPECT_TRUE(map.steps.empty());
  EXPECT_TRUE(map.rows.empty());
}

}  // namespace
}  // namespace heatsink::heat
