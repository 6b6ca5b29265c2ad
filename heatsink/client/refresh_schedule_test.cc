// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/refresh_schedule.h"

#include <gtest/gtest.h>

#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr KeyHash kFirst{1}, kSecond{2};
constexpr Nanos kInterval = std::chrono::seconds(10);

RefreshOptions options() { return {.interval = kInterval, .jitter = 0.1, .failures_max = 3}; }

Load load_of_nothing() {
  return [] { return std::make_shared<MissingValue>(); };
}

TEST(RefreshSchedule, AKeyIsDueAnIntervalAfterItsLoadAndThenUnderWay) {
  RefreshSchedule schedule(options());
  EXPECT_EQ(schedule.due_at(), std::nullopt);
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval);
  EXPECT_EQ(schedule.next(kStart + kInterval - Nanos(1)), std::nullopt);
  const auto job = schedule.next(kStart + kInterval);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->hash, kFirst);
  EXPECT_EQ(schedule.next(kStart + kInterval * 5), std::nullopt) << "a refresh is under way";
  schedule.succeeded(kFirst, kStart + kInterval, 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval * 2);
}

TEST(RefreshSchedule, KeysLoadedTogetherSpread) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  schedule.loaded(kSecond, load_of_nothing(), kStart, 1);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval * 9 / 10);
  EXPECT_EQ(schedule.next(kStart + kInterval)->hash, kSecond);
  EXPECT_EQ(schedule.next(kStart + kInterval)->hash, kFirst);
}

TEST(RefreshSchedule, ALoadByACallerPutsItOff) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  schedule.loaded(kFirst, load_of_nothing(), kStart + Nanos(5), 0);
  EXPECT_EQ(schedule.due_at(), kStart + kInterval + Nanos(5));
  EXPECT_EQ(schedule.size(), 1U);
}

TEST(RefreshSchedule, IsHurriedOnceAndOnlyForAKeyItKnows) {
  RefreshSchedule schedule(options());
  EXPECT_FALSE(schedule.hurry(kFirst, kStart));
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  EXPECT_TRUE(schedule.hurry(kFirst, kStart));
  ASSERT_TRUE(schedule.next(kStart));
  EXPECT_FALSE(schedule.hurry(kFirst, kStart)) << "under way";
}

TEST(RefreshSchedule, AFailingKeyIsDroppedAfterSoManyInARow) {
  RefreshSchedule schedule(options());
  TimePoint now = kStart;
  schedule.loaded(kFirst, load_of_nothing(), now, 0);
  const auto fail = [&] {
    now += kInterval;
    EXPECT_TRUE(schedule.next(now));
    return schedule.failed(kFirst, now, 0);
  };
  EXPECT_FALSE(fail());
  EXPECT_FALSE(fail());
  now += kInterval;
  ASSERT_TRUE(schedule.next(now));
  schedule.succeeded(kFirst, now, 0);
  EXPECT_FALSE(fail()) << "a success resets";
  EXPECT_FALSE(fail());
  EXPECT_TRUE(fail());
  EXPECT_EQ(schedule.size(), 0U);
  EXPECT_EQ(schedule.due_at(), std::nullopt);
}

TEST(RefreshSchedule, AJobSaysSinceWhenItIsDue) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  EXPECT_EQ(schedule.next(kStart + kInterval * 2)->due, kStart + kInterval);
  schedule.loaded(kSecond, load_of_nothing(), kStart, 0);
  EXPECT_TRUE(schedule.hurry(kSecond, kStart - Nanos(1))) << "wanted before anybody could say how";
  EXPECT_EQ(schedule.next(kStart)->due, kStart - Nanos(1));
}

// A caller is loading the key; the result is still unknown.
TEST(RefreshSchedule, AKeyThatIsSkippedIsDueAgainAndKeepsItsFailures) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  TimePoint now = kStart;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(schedule.next(now += kInterval));
    EXPECT_FALSE(schedule.failed(kFirst, now, 0));
  }
  ASSERT_TRUE(schedule.next(now += kInterval));
  schedule.skipped(kFirst, now, 0);
  EXPECT_EQ(schedule.due_at(), now + kInterval);
  ASSERT_TRUE(schedule.next(now += kInterval));
  EXPECT_TRUE(schedule.failed(kFirst, now, 0)) << "the third in a row";
  schedule.skipped(kFirst, now, 0);
  EXPECT_EQ(schedule.size(), 0U) << "it is forgotten";
}

TEST(RefreshSchedule, AFailingKeyDoesNotHoldUpOthers) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  schedule.loaded(kSecond, load_of_nothing(), kStart + Nanos(1), 0);
  ASSERT_EQ(schedule.next(kStart + kInterval * 2)->hash, kFirst);
  EXPECT_EQ(schedule.next(kStart + kInterval * 2)->hash, kSecond);
}

TEST(RefreshSchedule, WhatIsForgottenUnderWayStaysForgotten) {
  RefreshSchedule schedule(options());
  schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
  ASSERT_TRUE(schedule.next(kStart + kInterval));
  schedule.forget(kFirst);
  schedule.succeeded(kFirst, kStart + kInterval, 0);
  EXPECT_FALSE(schedule.failed(kFirst, kStart + kInterval, 0));
  EXPECT_EQ(schedule.due_at(), std::nullopt);
}

TEST(RefreshSchedule, WhatIsForgottenBeginsAnewWithoutItsFailures) {
  RefreshSchedule schedule(options());
  for (int life = 0; life < 2; ++life) {
    schedule.loaded(kFirst, load_of_nothing(), kStart, 0);
    for (int i = 1; i <= 2; ++i) {
      ASSERT_TRUE(schedule.next(kStart + i * kInterval));
      EXPECT_FALSE(schedule.failed(kFirst, kStart + i * kInterval, 0)) << life;
    }
    schedule.forget(kFirst);
    EXPECT_EQ(schedule.size(), 0U);
  }
}

}  // namespace
}  // namespace heatsink::client
