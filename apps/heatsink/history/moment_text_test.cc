// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/moment_text.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <string>

namespace heatsink::app {
namespace {

// 2026-11-28 12:00 UTC, which is 13:00 in Berlin.
constexpr WallTime kNow{std::chrono::seconds(1'795'867'200)};

class MomentText : public testing::Test {
 protected:
  MomentText() { use("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~MomentText() override {
    unsetenv("TZ");
    tzset();
  }
  static void use(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  static std::string read(const std::string& text) {
    const Result<WallTime> moment = parse_moment(text, kNow);
    return moment.ok() ? iso_time(*moment) : moment.error().message;
  }
};

TEST_F(MomentText, IsReadAsAPersonMeansIt) {
  EXPECT_EQ(read("now"), "2026-11-28T12:00:00.000Z");
  EXPECT_EQ(read("90m"), "2026-11-28T10:30:00.000Z");
  EXPECT_EQ(read("12:30"), "2026-11-28T11:30:00.000Z");
  EXPECT_EQ(read("15:00"), "2026-11-27T14:00:00.000Z") << "today it is still to come";
  EXPECT_EQ(read("yesterday 03:00:05"), "2026-11-27T02:00:05.000Z");
  EXPECT_EQ(read("2026-11-01 15:00"), "2026-11-01T14:00:00.000Z");
  EXPECT_EQ(read("2026-07-01"), "2026-06-30T22:00:00.000Z") << "daylight saving time";
  EXPECT_EQ(read("2026-11-01T15:00:00Z"), "2026-11-01T15:00:00.000Z");
}

TEST_F(MomentText, AnythingElseIsRefusedWithTheForms) {
  for (const char* const text : {"", "yesterday", "25:00", "2026-13-01", "15:00 or so"})
    EXPECT_NE(read(text).find("is no time; write 15:00"), std::string::npos) << text;
}

TEST_F(MomentText, IsWrittenInTheZoneOfTheMachine) {
  EXPECT_EQ(day_text(kNow) + " " + zone_text(kNow), "2026-11-28 13:00:00 +0100");
}

}  // namespace
}  // namespace heatsink::app
