// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/repeat_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "heatsink/alerts/bodies.h"
#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

class RepeatRoundTest : public ::testing::Test {
 protected:
  RepeatRoundTest() {
    policy::AlertOptions options;
    options.per_minute = 100'000;
    book.set(options);
  }

  void fire(int count, Kind kind = Kind::kHot) {
    for (int i = 0; i < count; ++i) active.push_back({.kind = kind, .subject = std::to_string(i)});
  }

  // The seconds in which each alert was sent, with so much room.
  std::map<std::string, std::vector<int>> run(int seconds, std::size_t room) {
    std::map<std::string, std::vector<int>> sent;
    for (int second = 0; second < seconds; ++second) {
      book.turn(active, at_second(second));
      for (const Notice& notice : round.next(book, room, at_second(second)))
        sent[notice.alert.identity()].push_back(second);
    }
    return sent;
  }

  AlertBook book{{}};
  RepeatRound round;
  std::vector<Alert> active;
};

TEST_F(RepeatRoundTest, AllAreSentOnceAMinuteHoweverManyThereAre) {
  fire(2000);
  const auto sent = run(600, 128);
  EXPECT_EQ(sent.size(), 2000U);
  for (const auto& [identity, seconds] : sent) {
    EXPECT_EQ(seconds.size(), 10U) << identity;
    for (std::size_t i = 1; i < seconds.size(); ++i)
      EXPECT_LE(seconds[i] - seconds[i - 1], 65) << identity;
  }
}

TEST_F(RepeatRoundTest, WithLittleRoomTheMostSevereLast) {
  fire(2000);
  fire(40, Kind::kServerDown);
  const auto sent = run(900, 1);
  for (const Alert& alert : active) {
    if (alert.kind != Kind::kServerDown) continue;
    const std::vector<int>& seconds = sent.at(alert.identity());
    for (std::size_t i = 1; i < seconds.size(); ++i)
      EXPECT_LT(std::chrono::seconds(seconds[i] - seconds[i - 1]), kAlertmanagerHolds);
  }
}

TEST_F(RepeatRoundTest, OneThatHasEndedIsNotSent) {
  fire(100);
  book.turn(active, at_second(0));
  EXPECT_EQ(round.next(book, 128, at_second(0)).size(), 2U);
  book.turn({}, at_second(3600));
  for (int second = 3601; second < 3610; ++second)
    EXPECT_TRUE(round.next(book, 128, at_second(second)).empty());
}

}  // namespace
}  // namespace heatsink::alerts
