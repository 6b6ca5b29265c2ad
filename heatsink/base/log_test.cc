// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

const TimePoint kStart = TimePoint(seconds(1000));

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    set_log_level(LogLevel::kInfo);
    set_log_sink([this](LogLevel level, std::string_view line) {
      lines.push_back(std::string(to_string(level)) + " " + std::string(line));
    });
  }
  ~LogTest() override { set_log_sink({}); }

  std::vector<std::string> lines;
};

TEST_F(LogTest, LevelDecides) {
  log(LogLevel::kDebug, "no");
  log(LogLevel::kInfo, "one");
  set_log_level(LogLevel::kError);
  EXPECT_FALSE(is_logged(LogLevel::kWarning));
  log(LogLevel::kWarning, "no");
  log(LogLevel::kError, "two");
  set_log_level(LogLevel::kOff);
  log(LogLevel::kError, "no");
  EXPECT_THAT(lines, ElementsAre("info one", "error two"));
}

TEST_F(LogTest, AnEventIsOneLineWhateverIsInIt) {
  log(LogLevel::kInfo, "a\nb \x1b[2J \xff c:\\d \"quoted\"");
  EXPECT_THAT(lines, ElementsAre("info a\\nb \\x1b[2J \\xff c:\\d \"quoted\""));
  log(LogLevel::kInfo, std::string(1 << 20, 'x'));
  EXPECT_LT(lines.back().size(), kLogBytesMax + 64);
}

TEST_F(LogTest, LineOnStderrHasTimeAndLevel) {
  set_log_sink({});
  ::testing::internal::CaptureStderr();
  log(LogLevel::kWarning, "{} is not a format here");
  EXPECT_TRUE(flush_log(seconds(60)));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              MatchesRegex("....-..-..T..:..:..\\....Z warning \\{\\} is not a format here\n"));
}

TEST_F(LogTest, RepeatedEventsAreCountedNotLogged) {
  log_limited(LogLevel::kWarning, "log_test", "first", kStart);
  for (int i = 0; i < 1000; ++i)
    log_limited(LogLevel::kWarning, "log_test", "same", kStart + seconds(9));
  log_limited(LogLevel::kWarning, "log_test", "next", kStart + seconds(10));
  log_limited(LogLevel::kWarning, "log_test", "last", kStart + seconds(20));
  EXPECT_THAT(lines, ElementsAre("warning first",
                                 "warning next (and 1000 similar lines left out before this one)",
                                 "warning last"));
}

TEST(LogLevelNames, ReadAndWritten) {
  for (const char* name : {"debug", "info", "warning", "error", "off"}) {
    EXPECT_STREQ(to_string(*parse_log_level(name)), name);
  }
  EXPECT_EQ(parse_log_level("loud").error().message,
            "'loud' is not a log level: write debug, info, warning, error or off");
}

TEST(LogLimiter, KeysAreToldApart) {
  LogLimiter limiter(seconds(10), 8);
  EXPECT_EQ(limiter.admit("a", kStart), 0u);
  EXPECT_EQ(limiter.admit("b", kStart), 0u);
  EXPECT_EQ(limiter.admit("a", kStart + seconds(1)), std::nullopt);
  EXPECT_EQ(limiter.admit("a", kStart + seconds(10)), 1u);
  EXPECT_EQ(limiter.admit("b", kStart + seconds(10)), 0u);
}

TEST(LogLimiter, MemoryIsBoundedAndNewKeysStillGetAWord) {
  LogLimiter limiter(seconds(10), 2);
  EXPECT_EQ(limiter.admit("a", kStart), 0u);
  EXPECT_EQ(limiter.admit("b", kStart), 0u);
  EXPECT_EQ(limiter.admit("c", kStart), 0u) << "the first of those that share";
  EXPECT_EQ(limiter.admit("d", kStart), std::nullopt);
  EXPECT_EQ(limiter.admit("e", kStart), std::nullopt);
  EXPECT_EQ(limiter.admit("f", kStart + seconds(10)), 0u) << "old ones were forgotten";
  EXPECT_EQ(limiter.admit("g", kStart + seconds(10)), 0u);
}

TEST(LogLimiter, TimeThatStepsBackStandsStill) {
  LogLimiter limiter(seconds(10), 2);
  EXPECT_EQ(limiter.admit("a", kStart), 0u);
  EXPECT_EQ(limiter.admit("a", kStart - seconds(100)), std::nullopt);
  EXPECT_EQ(limiter.admit("a", kStart + seconds(10)), 1u);
}

}  // namespace
}  // namespace heatsink
