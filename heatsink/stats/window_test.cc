// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace heatsink::stats {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{std::chrono::hours(1000)};

TEST(Window, NumbersLeaveWithTheirSlot) {
  Window window({.length = 10s, .slots = 10});
  window.record(1, kStart + 500ms);
  window.record(2, kStart + 1500ms);
  EXPECT_EQ(window.summary(kStart + 9999ms).count, 2U);
  EXPECT_EQ(window.summary(kStart + 10s).sum, 2);
  EXPECT_EQ(window.summary(kStart + 11s).count, 0U);
}

TEST(Window, ASlotThatComesRoundIsEmpty) {
  Window window({.length = 10s, .slots = 10});
  window.record(1, kStart);
  window.record(2, kStart + 10s);
  EXPECT_EQ(window.summary(kStart + 10s).sum, 2);
}

TEST(Window, AYearWithoutNumbersIsQuickAndEmpties) {
  Window window({.length = 10s, .slots = 10});
  window.record(1, kStart);
  EXPECT_EQ(window.summary(kStart + 24h * 365).count, 0U);
}

TEST(Window, TimeThatGoesBackStandsStill) {
  Window window({.length = 10s, .slots = 10});
  window.record(1, kStart + 5s);
  window.record(2, kStart + 1s);
  EXPECT_EQ(window.summary(kStart).count, 2U);
  EXPECT_EQ(window.summary(kStart + 14s).count, 2U);  // both in the slot of 5 s
  EXPECT_EQ(window.summary(kStart + 15s).count, 0U);
}

TEST(Window, SaysWhatItCovers) {
  const Window window({.length = 10s, .slots = 10});
  EXPECT_EQ(window.covered_from(kStart + 9999ms), kStart);
  EXPECT_EQ(window.covered_from(kStart + 10s), kStart + 1s);
}

RC_GTEST_PROP(Window, IsWhatWasRecordedSinceItsBegin, ()) {
  const auto slots = *rc::gen::inRange<std::uint32_t>(1, kSlotsMax + 1);
  Window window({.length = 1s, .slots = slots});
  std::vector<std::pair<TimePoint, std::int64_t>> all;
  TimePoint now = kStart;
  for (int i = 0; i < 200; ++i) {
    now += Nanos(*rc::gen::inRange(0, 100'000'000));
    const auto value = *rc::gen::inRange<std::int64_t>(-1000, 1000);
    window.record(value, now);
    all.emplace_back(now, value);
    Summary expected;
    for (const auto& [at, each] : all)
      if (at >= window.covered_from(now)) expected.add(each);
    RC_ASSERT(window.summary(now) == expected);
    RC_ASSERT(now - window.covered_from(now) <= 1s);
    RC_ASSERT(now - window.covered_from(now) >= 1s - Nanos(1s) / slots - Nanos(slots));
  }
}

}  // namespace
}  // namespace heatsink::stats
