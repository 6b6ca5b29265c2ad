// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/alert_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

policy::AlertOptions short_times() {
  policy::AlertOptions options;
  options.resolve_after = 10 * kSecond;
  options.repeat_interval = 100 * kSecond;
  options.per_minute = 2;
  return options;
}

Alert alert_of(std::string subject, std::string summary = "") {
  return {.kind = Kind::kHot, .subject = std::move(subject), .summary = std::move(summary)};
}

// "a", "a again", "a over".
std::vector<std::string> texts_of(const std::vector<Notice>& notices) {
  std::vector<std::string> out;
  for (const Notice& notice : notices)
    out.push_back(notice.alert.subject + (notice.is_over     ? " over"
                                          : notice.is_repeat ? " again"
                                                             : ""));
  return out;
}

TEST(AlertBook, TellsOnceThenAgainThenThatItIsOver) {
  AlertBook book(short_times());
  std::vector<std::string> told;
  for (int second = 0; second < 250; ++second) {
    for (const std::string& text : texts_of(book.turn({alert_of("a")}, at_second(second))))
      told.push_back(std::to_string(second) + " " + text);
  }
  EXPECT_THAT(told, ElementsAre("0 a", "100 a again", "200 a again"));
  EXPECT_THAT(book.firing(), SizeIs(1));
  EXPECT_THAT(book.turn({}, at_second(258)), IsEmpty());
  EXPECT_THAT(texts_of(book.turn({}, at_second(259))), ElementsAre("a over"));
  EXPECT_THAT(book.firing(), IsEmpty());
  EXPECT_EQ(book.told(Kind::kHot), 1U);
  EXPECT_EQ(book.held_back(), 0U);
}

TEST(AlertBook, OneThatComesAndGoesIsOne) {
  AlertBook book(short_times());
  EXPECT_THAT(book.turn({alert_of("a")}, at_second(0)), SizeIs(1));
  for (int second = 1; second < 90; ++second) {
    const bool is_there = second % 9 == 0;
    ASSERT_THAT(
        book.turn(is_there ? std::vector{alert_of("a")} : std::vector<Alert>(), at_second(second)),
        IsEmpty());
  }
}

TEST(AlertBook, ItKeepsTheFirstTimeAndTheLatestText) {
  AlertBook book(short_times());
  Alert first = alert_of("a", "1/s");
  first.since = at_second(5);
  book.turn({first}, at_second(6));
  Alert later = alert_of("a", "2/s");
  later.since = at_second(50);
  const std::vector<Notice> again = book.turn({later}, at_second(106));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].alert.summary, "2/s");
  EXPECT_EQ(again[0].alert.since, at_second(5));
}

TEST(AlertBook, BeyondTheLimitNewOnesWait) {
  AlertBook book(short_times());
  const std::vector<Alert> all = {alert_of("a"), alert_of("b"), alert_of("c"), alert_of("d")};
  EXPECT_THAT(texts_of(book.turn(all, at_second(0))), ElementsAre("a", "b"));
  EXPECT_THAT(book.turn(all, at_second(29)), IsEmpty());
  EXPECT_THAT(texts_of(book.turn(all, at_second(30))), ElementsAre("c"));
  // "d" ends before its turn: it was never told, so its end is not told either.
  EXPECT_THAT(book.turn({alert_of("a"), alert_of("b"), alert_of("c")}, at_second(40)), IsEmpty());
  EXPECT_EQ(book.held_back(), 1U);
}

TEST(AlertBook, HasALimitOfItsOwn) {
  AlertBook book(short_times());
  std::vector<Alert> many;
  for (std::size_t i = 0; i < AlertBook::kAlertsMax + 1; ++i)
    many.push_back(alert_of(std::to_string(i)));
  EXPECT_THAT(book.turn(many, at_second(0)), SizeIs(2));
  EXPECT_EQ(book.held_back(), 1U);
  // What is worse than a hot key finds room all the same.
  Alert down = alert_of("server");
  down.kind = Kind::kServerDown;
  EXPECT_THAT(texts_of(book.turn({down}, at_second(60))),
              ElementsAre("server", "0 over", "1 over"));
}

// What a process leaves to the next one.
std::vector<ToldAlert> left_at(int second, bool is_over = false) {
  Alert alert = alert_of("a", "before");
  alert.since = at_second(second - 5);
  return {{alert, at_second(second), is_over}};
}

TEST(AlertBook, AnAlertOfTheProcessBeforeIsNotToldAgainAndHasItsEnd) {
  AlertBook book(short_times());
  book.restore(left_at(100), at_second(130));
  EXPECT_THAT(texts_of(book.firing()), ElementsAre("a again"));
  EXPECT_THAT(book.turn({alert_of("a")}, at_second(130)), IsEmpty());
  const std::vector<Notice> again = book.turn({alert_of("a", "now")}, at_second(200));
  EXPECT_THAT(texts_of(again), ElementsAre("a again")) << "after alerts.repeat-interval, from 100";
  EXPECT_EQ(again[0].alert.since, at_second(95));
  EXPECT_THAT(texts_of(book.turn({}, at_second(210))), ElementsAre("a over"));
  EXPECT_EQ(book.told(Kind::kHot), 0U) << "this process raised none";
}

TEST(AlertBook, WhatEndedWhileNoProcessWatchedEndsSoon) {
  AlertBook book(short_times());
  book.restore(left_at(100), at_second(1000));
  EXPECT_THAT(book.turn({}, at_second(1009)), IsEmpty()) << "it may only have begun to count";
  EXPECT_THAT(texts_of(book.turn({}, at_second(1010))), ElementsAre("a over"));
}

TEST(AlertBook, WhatTakesLongToFindIsNotOverAfterARestart) {
  for (const auto& [kind, found_after] :
       {std::pair{Kind::kImbalance, 65}, {Kind::kHitRatio, 665}, {Kind::kServerDown, 15}}) {
    policy::AlertOptions options;
    options.resolve_after = 10 * kSecond;
    options.server_down_after = 15 * kSecond;
    AlertBook book(options);
    std::vector<ToldAlert> left = left_at(990);
    left[0].alert.kind = kind;
    Alert later = alert_of("a");
    later.kind = kind;
    book.restore(left, at_second(1000));
    for (int second = 0; second <= found_after + 5; ++second) {
      const bool is_found = second >= found_after;
      EXPECT_THAT(
          book.turn(is_found ? std::vector{later} : std::vector<Alert>(), at_second(1000 + second)),
          IsEmpty())
          << to_string(kind) << " after " << second;
    }
    const int last = 1000 + found_after + 5;
    EXPECT_THAT(book.turn({}, at_second(last + 9)), IsEmpty());
    EXPECT_THAT(texts_of(book.turn({}, at_second(last + 10))), ElementsAre("a over"))
        << "once it was found, it ends as ever";
  }
}

TEST(AlertBook, WhatIsNeverFoundAfterARestartEnds) {
  policy::AlertOptions options;
  AlertBook book(options);
  std::vector<ToldAlert> left = left_at(990);
  left[0].alert.kind = Kind::kImbalance;
  book.restore(left, at_second(1000));
  EXPECT_THAT(book.turn({}, at_second(1149)), IsEmpty());
  EXPECT_THAT(texts_of(book.turn({}, at_second(1150))), ElementsAre("a over"));
}

TEST(AlertBook, AnEndThatNobodyTookIsToldAgain) {
  AlertBook book(short_times());
  book.restore(left_at(100, true), at_second(130));
  EXPECT_THAT(texts_of(book.turn({}, at_second(130))), ElementsAre("a over"));
  AlertBook other(short_times());
  other.restore(left_at(100, true), at_second(130));
  EXPECT_THAT(other.turn({alert_of("a")}, at_second(130)), IsEmpty()) << "it holds again";
}

TEST(AlertBook, OnlyWhatWasToldIsLeftToTheNext) {
  AlertBook book(short_times());
  book.turn({alert_of("a"), alert_of("b"), alert_of("c")}, at_second(0));
  ASSERT_THAT(book.told(), SizeIs(2));
  EXPECT_EQ(book.told()[1].alert.subject, "b");
  EXPECT_TRUE(book.find(alert_of("a").identity()).has_value());
  EXPECT_FALSE(book.find(alert_of("c").identity()).has_value());
}

TEST(AlertBook, TheMostSevereComeFirst) {
  policy::AlertOptions options = short_times();
  options.per_minute = 10;
  AlertBook book(options);
  Alert down = alert_of("server");
  down.kind = Kind::kServerDown;
  Alert written = alert_of("w");
  written.kind = Kind::kWriteHot;
  book.turn({alert_of("a"), alert_of("b"), written, down}, at_second(0));
  EXPECT_THAT(texts_of(book.most_severe(3)), ElementsAre("server again", "w again", "a again"));
}

}  // namespace
}  // namespace heatsink::alerts
