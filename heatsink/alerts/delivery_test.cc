// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Outcome kGood{};
const Outcome kLater{Outcome::Kind::kRetry, "status 500", Nanos(0)};
const Outcome kNever{Outcome::Kind::kRefused, "status 404", Nanos(0)};

Notice notice_of(std::string subject, bool is_over = false) {
  return {{.kind = Kind::kHot, .subject = std::move(subject)}, is_over, false};
}

std::vector<std::string> subjects(const std::vector<Notice>& notices) {
  std::vector<std::string> out;
  for (const Notice& notice : notices)
    out.push_back(notice.alert.subject + (notice.is_over ? " over" : ""));
  return out;
}

class Deliveries : public ::testing::Test {
 protected:
  Delivery delivery{std::chrono::hours(1)};
};

TEST_F(Deliveries, WhatWaitsIsOneMessage) {
  EXPECT_EQ(delivery.due_at(), TimePoint::max());
  delivery.add(notice_of("a"), at_second(1));
  delivery.add(notice_of("b"), at_second(1));
  EXPECT_THAT(subjects(delivery.take(at_second(1))), ElementsAre("a", "b"));
  delivery.attempted(kGood, at_second(2));
  EXPECT_THAT(delivery.take(at_second(3)), IsEmpty());
  EXPECT_EQ(delivery.waiting(), 0U);
}

TEST_F(Deliveries, WhatIsOnItsWayIsNotDelivered) {
  delivery.add(notice_of("a"), at_second(1));
  delivery.take(at_second(1));
  delivery.add(notice_of("b", true), at_second(1));
  EXPECT_THAT(subjects(delivery.undelivered()), ElementsAre("a", "b over"));
  delivery.attempted(kGood, at_second(2));
  EXPECT_THAT(subjects(delivery.undelivered()), ElementsAre("b over"));
}

TEST_F(Deliveries, FailuresAreTriedAgainAfterGrowingPauses) {
  delivery.add(notice_of("a"), at_second(0));
  std::vector<std::int64_t> tried;
  for (std::int64_t second = 0; second < 300; ++second) {
    if (delivery.take(at_second(second)).empty()) continue;
    tried.push_back(second);
    delivery.attempted(kLater, at_second(second));
  }
  EXPECT_THAT(tried, ElementsAre(0, 1, 3, 7, 15, 31, 63, 123, 183, 243));
  ASSERT_THAT(delivery.take(at_second(303)), SizeIs(1));
  delivery.attempted(kGood, at_second(303));
  delivery.add(notice_of("b"), at_second(304));
  ASSERT_THAT(delivery.take(at_second(304)), SizeIs(1));
  delivery.attempted(kLater, at_second(304));
  EXPECT_EQ(delivery.due_at(), at_second(305));  // a success has ended the long pauses
}

TEST_F(Deliveries, ATargetMayAskForALongerPause) {
  delivery.add(notice_of("a"), at_second(0));
  delivery.take(at_second(0));
  delivery.attempted({Outcome::Kind::kRetry, "status 429", 30 * kSecond}, at_second(0));
  EXPECT_EQ(delivery.due_at(), at_second(30));
  delivery.take(at_second(30));
  delivery.attempted({Outcome::Kind::kRetry, "status 429", std::chrono::hours(24)}, at_second(30));
  EXPECT_EQ(delivery.due_at(), at_second(630));  // but for no more than ten minutes
}

TEST_F(Deliveries, ALaterNoticeOfTheSameAlertReplacesIt) {
  delivery.add(notice_of("a"), at_second(0));
  delivery.add(notice_of("b"), at_second(0));
  delivery.add(notice_of("a", true), at_second(1));
  EXPECT_THAT(subjects(delivery.take(at_second(1))), ElementsAre("b", "a over"));
  delivery.add(notice_of("b", true), at_second(2));  // while a message is on its way
  delivery.attempted(kLater, at_second(2));
  EXPECT_THAT(subjects(delivery.take(at_second(3))), ElementsAre("a over", "b over"));
  EXPECT_EQ(delivery.dropped_full(), 0U);
}

TEST_F(Deliveries, TooLateIsDropped) {
  delivery.add(notice_of("a"), at_second(0));
  delivery.take(at_second(3599));
  delivery.attempted(kLater, at_second(3599));
  delivery.take(at_second(3600));
  delivery.attempted(kLater, at_second(3600));
  EXPECT_EQ(delivery.waiting(), 0U);
  EXPECT_EQ(delivery.dropped_late(), 1U);
}

TEST_F(Deliveries, ARefusalIsNotTriedAgain) {
  delivery.add(notice_of("a"), at_second(0));
  delivery.take(at_second(0));
  delivery.attempted(kNever, at_second(0));
  EXPECT_EQ(delivery.due_at(), TimePoint::max());
  EXPECT_EQ(delivery.dropped_refused(), 1U);
}

TEST_F(Deliveries, AFullMailboxDropsTheOldest) {
  for (std::size_t i = 0; i < Delivery::kWaitingMax + 2; ++i)
    delivery.add(notice_of(std::to_string(i)), at_second(0));
  EXPECT_EQ(delivery.waiting(), Delivery::kWaitingMax);
  EXPECT_EQ(delivery.dropped_full(), 2U);
  const std::vector<Notice> first = delivery.take(at_second(0));
  ASSERT_THAT(first, SizeIs(Delivery::kMessageMax));
  EXPECT_EQ(first[0].alert.subject, "2");
}

}  // namespace
}  // namespace heatsink::alerts
