// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/refresh_schedule.h"

#include <gtest/gtest.h>

#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr KeyHash kA{1}, kB{2};
constexpr Nanos kInterval = std::chrono::seconds(10);

RefreshOptions options() { return {.interval = kInterval, .jitter = 0.1, .failures_max = 3}; }

Load load_of_nothing() {
  return [] { return std::make_shared<MissingValue>(); };
}

TEST(RefreshSchedule, AKeyIsDueAnIntervalAfterItsLoadAndThenUnderWay) {
  RefreshSchedule schedule(options());
  EXPECT_EQ(schedule.due_at(), std::nullopt);
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval);
  EXPECT_EQ(schedule.next(kStart + kInterval - Nanos(1)), std::nullopt);
  const auto job = schedule.next(kStart + kInterval);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->hash, kA);
  EXPECT_EQ(schedule.next(kStart + kInterval * 5), std::nullopt) << "a refresh is under way";
  schedule.succeeded(kA, kStart + kInterval, 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval * 2);
}

TEST(RefreshSchedule, KeysLoadedTogetherSpread) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  schedule.loaded(kB, load_of_nothing(), kStart, 1);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval * 9 / 10);
  EXPECT_EQ(schedule.next(kStart + kInterval)->hash, kB);
  EXPECT_EQ(schedule.next(kStart + kInterval)->hash, kA);
}

TEST(RefreshSchedule, ALoadByACallerPutsItOff) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  schedule.loaded(kA, load_of_nothing(), kStart + Nanos(5), 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval + Nanos(5));
  EXPECT_EQ(schedule.size(), 1U);
}

TEST(RefreshSchedule, IsHurriedOnceAndOnlyForAKeyItKnows) {
  RefreshSchedule schedule(options());
  EXPECT_FALSE(schedule.hurry(kA, kStart));
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  EXPECT_TRUE(schedule.hurry(kA, kStart));
  ASSERT_TRUE(schedule.next(kStart));
  EXPECT_FALSE(schedule.hurry(kA, kStart)) << "under way";
}

TEST(RefreshSchedule, AFailingKeyIsDroppedAfterSoManyInARow) {
  RefreshSchedule schedule(options());
  TimePoint now = kStart;
  schedule.loaded(kA, load_of_nothing(), now, 0);
  const auto fail = [&] {
    now += kInterval;
    EXPECT_TRUE(schedule.next(now));
    return schedule.failed(kA, now, 0);
  };
  EXPECT_FALSE(fail());
  EXPECT_FALSE(fail());
  now += kInterval;
  ASSERT_TRUE(schedule.next(now));
  schedule.succeeded(kA, now, 0);
  EXPECT_FALSE(fail()) << "a success resets";
  EXPECT_FALSE(fail());
  EXPECT_TRUE(fail());
  EXPECT_EQ(schedule.size(), 0U);
  EXPECT_EQ(schedule.due_at(), std::nullopt);
}

TEST(RefreshSchedule, AJobSaysSinceWhenItIsDue) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  EXPECT_EQ(schedule.next(kStart + kInterval * 2)->due, kStart + kInterval);
  schedule.loaded(kB, load_of_nothing(), kStart, 0);
  EXPECT_TRUE(schedule.hurry(kB, kStart - Nanos(1))) << "wanted before anybody could say how";
  EXPECT_EQ(schedule.next(kStart)->due, kStart - Nanos(1));
}

// A caller is loading the key; the result is still unknown.
TEST(RefreshSchedule, AKeyThatIsSkippedIsDueAgainAndKeepsItsFailures) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  TimePoint now = kStart;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(schedule.next(now += kInterval));
    EXPECT_FALSE(schedule.failed(kA, now, 0));
  }
  ASSERT_TRUE(schedule.next(now += kInterval));
  schedule.skipped(kA, now, 0);
  EXPECT_EQ(schedule.due_at(), now + kInterval);
  ASSERT_TRUE(schedule.next(now += kInterval));
  EXPECT_TRUE(schedule.failed(kA, now, 0)) << "the third in a row";
  schedule.skipped(kA, now, 0);
  EXPECT_EQ(schedule.size(), 0U) << "it is forgotten";
}

TEST(RefreshSchedule, AFailingKeyDoesNotHoldUpOthers) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  schedule.loaded(kB, load_of_nothing(), kStart + Nanos(1), 0);
  ASSERT_EQ(schedule.next(kStart + kInterval * 2)->hash, kA);
  EXPECT_EQ(schedule.next(kStart + kInterval * 2)->hash, kB);
}

TEST(RefreshSchedule, WhatIsForgottenUnderWayStaysForgotten) {
  RefreshSchedule schedule(options());
  schedule.loaded(kA, load_of_nothing(), kStart, 0);
  ASSERT_TRUE(schedule.next(kStart + kInterval));
  schedule.forget(kA);
  schedule.succeeded(kA, kStart + kInterval, 0);
  EXPECT_FALSE(schedule.failed(kA, kStart + kInterval, 0));
  EXPECT_EQ(schedule.due_at(), std::nullopt);
}

TEST(RefreshSchedule, WhatIsForgottenBeginsAnewWithoutItsFailures) {
  RefreshSchedule schedule(options());
  for (int life = 0; life < 2; ++life) {
    schedule.loaded(kA, load_of_nothing(), kStart, 0);
    for (int i = 1; i <= 2; ++i) {
      ASSERT_TRUE(schedule.next(kStart + i * kInterval));
      EXPECT_FALSE(schedule.failed(kA, kStart + i * kInterval, 0)) << life;
    }
    schedule.forget(kA);
    EXPECT_EQ(schedule.size(), 0U);
  }
}

}  // namespace
}  // namespace heatsink::client
