// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/warm_window.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string>

namespace heatsink::policy {
namespace {

// "2026-11-21 19:55:00" in UTC; that is a Saturday.
WallTime utc(const std::string& text) {
  tm parts{};
  EXPECT_NE(strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts), nullptr) << text;
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string shown(const std::optional<WallTime>& time) {
  if (!time) return "closed";
  const time_t moment = std::chrono::system_clock::to_time_t(*time);
  tm parts{};
  gmtime_r(&moment, &parts);
  std::string out(19, ' ');
  strftime(out.data(), out.size() + 1, "%Y-%m-%d %H:%M:%S", &parts);
  return out;
}

std::string at(const WarmWindow::Text& text, const std::string& now) {
  return shown(WarmWindow::parse(text).value().open_until(utc(now)));
}

std::string fault(const WarmWindow::Text& text) {
  const Result<WarmWindow> window = WarmWindow::parse(text);
  return window.ok() ? "" : window.error().message;
}

TEST(WarmWindow, FromItsBeginningUpToItsEnd) {
  const WarmWindow::Text evening{"19:55", "20:30", "", "UTC"};
  EXPECT_EQ(at(evening, "2026-11-21 19:54:59"), "closed");
  EXPECT_EQ(at(evening, "2026-11-21 19:55:00"), "2026-11-21 20:30:00");
  EXPECT_EQ(at(evening, "2026-11-21 20:29:59"), "2026-11-21 20:30:00");
  EXPECT_EQ(at(evening, "2026-11-21 20:30:00"), "closed");
}

TEST(WarmWindow, OverMidnightTheDayIsThatOfItsBeginning) {
  const WarmWindow::Text night{"23:00", "01:00:30", "sat", "UTC"};
  EXPECT_EQ(at(night, "2026-11-21 23:00:00"), "2026-11-22 01:00:30");
  EXPECT_EQ(at(night, "2026-11-22 01:00:29"), "2026-11-22 01:00:30");
  EXPECT_EQ(at(night, "2026-11-22 01:00:30"), "closed");
  EXPECT_EQ(at(night, "2026-11-22 23:30:00"), "closed") << "a Sunday";
  EXPECT_EQ(at(night, "2026-11-21 00:30:00"), "closed") << "that of Friday";
}

TEST(WarmWindow, OnItsDays) {
  const WarmWindow::Text work{"09:00", "10:00", "fri-mon,wed", "UTC"};
  const char* const days[] = {"open", "open", "open", "", "open", "", "open"};  // from Saturday on
  for (int day = 0; day < 7; ++day) {
    const std::string now = "2026-11-" + std::to_string(21 + day) + " 09:30:00";
    EXPECT_EQ(at(work, now) != "closed", *days[day] != '\0') << now;
  }
}

TEST(WarmWindow, InAZoneOfAFixedOffset) {
  EXPECT_EQ(at({"01:00", "02:00", "sun", "+05:30"}, "2026-11-21 20:00:00"), "2026-11-21 20:30:00");
  EXPECT_EQ(at({"22:00", "23:00", "fri", "-03:00"}, "2026-11-21 01:30:00"), "2026-11-21 02:00:00");
}

class InBerlin : public testing::Test {
 protected:
  InBerlin() { set("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~InBerlin() override { set("UTC0"); }
  static void set(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
};

TEST_F(InBerlin, TheWindowGoesWithTheClocks) {
  const WarmWindow::Text evening{"19:55", "20:30", "", "local"};
  EXPECT_EQ(at(evening, "2026-07-01 18:00:00"), "2026-07-01 18:30:00");
  EXPECT_EQ(at(evening, "2026-11-21 19:00:00"), "2026-11-21 19:30:00");
}

// 29 March 2026: 02:00 is followed by 03:00, at 01:00 UTC.
TEST_F(InBerlin, WhatTheClocksSkipIsSkipped) {
  EXPECT_EQ(at({"01:30", "03:30", "", "local"}, "2026-03-29 00:30:00"), "2026-03-29 01:30:00");
  EXPECT_EQ(at({"02:15", "03:30", "", "local"}, "2026-03-29 00:59:59"), "closed");
  EXPECT_EQ(at({"02:15", "03:30", "", "local"}, "2026-03-29 01:00:00"), "2026-03-29 01:30:00");
  EXPECT_EQ(at({"02:10", "02:50", "", "local"}, "2026-03-29 01:10:00"), "closed") << "it was not";
}

// 25 October 2026: 03:00 is followed by 02:00, at 01:00 UTC.
TEST_F(InBerlin, WhatTheyShowTwiceIsThereTwice) {
  const WarmWindow::Text twice{"02:10", "02:50", "", "local"};
  EXPECT_EQ(at(twice, "2026-10-25 00:20:00"), "2026-10-25 00:50:00");
  EXPECT_EQ(at(twice, "2026-10-25 00:55:00"), "closed");
  EXPECT_EQ(at(twice, "2026-10-25 01:20:00"), "2026-10-25 01:50:00");
  EXPECT_EQ(at({"01:30", "04:00", "", "local"}, "2026-10-24 23:45:00"), "2026-10-25 03:00:00");
}

TEST_F(InBerlin, TheNextTimeOfDayMayBeTomorrows) {
  const auto next = [](const std::string& text, const std::string& now) {
    return shown(next_time_of_day(text, utc(now)).value());
  };
  EXPECT_EQ(next("20:30", "2026-11-21 19:29:59"), "2026-11-21 19:30:00");
  EXPECT_EQ(next("20:30", "2026-11-21 19:30:00"), "2026-11-22 19:30:00");
  EXPECT_EQ(next("12:00", "2026-10-24 12:00:00"), "2026-10-25 11:00:00") << "a day of 25 hours";
  EXPECT_FALSE(next_time_of_day("noon", utc("2026-11-21 19:30:00")).ok());
}

TEST(WarmWindow, WhatCannotBeIsToldByItsMember) {
  EXPECT_EQ(fault({"25:00", "20:30", "", "UTC"}),
            "from is '25:00': write a time of day, as in 19:55");
  for (const char* wrong : {"", "7:00", "07:60", "07:00:60", "07:00:00:00", "0700", "07:00x"})
    EXPECT_NE(fault({"06:00", wrong, "", "UTC"}), "") << wrong;
  EXPECT_NE(fault({"20:30", "20:30", "", "UTC"}), "");
  for (const char* wrong : {"funday", "mon-", "mon,", "mon..fri", "-"})
    EXPECT_NE(fault({"19:55", "20:30", wrong, "UTC"}), "") << wrong;
  for (const char* wrong : {"", "Mars", "+2", "02:00", "+25:00"})
    EXPECT_NE(fault({"19:55", "20:30", "", wrong}), "") << wrong;
}

}  // namespace
}  // namespace heatsink::policy
