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
  EXPECT_THAT(lines,
              ElementsAre("warning first", "warning 1000 more like this in the last 10s: first",
                          "warning next", "warning last"));
}

TEST_F(LogTest, TheEndOfAFloodHasItsLineToo) {
  log_limited(LogLevel::kError, "log_test flood", "one", kStart + seconds(100));
  log_limited(LogLevel::kError, "log_test flood", "two", kStart + seconds(101));
  log_summaries(kStart + seconds(109));
  EXPECT_THAT(lines, ElementsAre("error one"));
  log_summaries(kStart + seconds(110));
  log_summaries(kStart + seconds(120));
  EXPECT_THAT(lines, ElementsAre("error one", "error 1 more like this in the last 10s: one"));
}

// Whether the limiter admits a line of this kind.
bool admits(LogLimiter& limiter, std::string_view key, TimePoint now) {
  return limiter.admit(key, LogLevel::kInfo, "a line", now);
}
std::vector<std::uint64_t> left_out(LogLimiter& limiter, TimePoint now) {
  std::vector<std::uint64_t> out;
  for (const LogLimiter::Summary& summary : limiter.take_summaries(now))
    out.push_back(summary.left_out);
  return out;
}

TEST(LogLimiter, KeysAreToldApart) {
  LogLimiter limiter(seconds(10), 8);
  EXPECT_TRUE(admits(limiter, "a", kStart));
  EXPECT_TRUE(admits(limiter, "b", kStart));
  EXPECT_FALSE(admits(limiter, "a", kStart + seconds(1)));
  EXPECT_THAT(left_out(limiter, kStart + seconds(9)), ElementsAre());
  EXPECT_THAT(left_out(limiter, kStart + seconds(10)), ElementsAre(1));
  EXPECT_THAT(left_out(limiter, kStart + seconds(11)), ElementsAre());
  EXPECT_TRUE(admits(limiter, "a", kStart + seconds(10)));
  EXPECT_TRUE(admits(limiter, "b", kStart + seconds(10)));
}

TEST(LogLimiter, WhatOthersHaveSaidIsLeftOutWithoutACount) {
  LogLimiter limiter(seconds(10), 8);
  const auto once = [&](TimePoint now) {
    return limiter.admit("login", LogLevel::kWarning, "no", now, LogLimiter::LeftOut::kForgotten);
  };
  EXPECT_TRUE(once(kStart));
  EXPECT_FALSE(once(kStart + seconds(1)));
  EXPECT_THAT(left_out(limiter, kStart + seconds(10)), ElementsAre());
  EXPECT_TRUE(once(kStart + seconds(10)));
}

TEST(LogLimiter, EachKindIsSummedUpWhenItIsDue) {
  LogLimiter limiter(seconds(10), 8);
  for (int i = 0; i < 3; ++i) static_cast<void>(admits(limiter, "a", kStart));
  for (int i = 0; i < 2; ++i) static_cast<void>(admits(limiter, "b", kStart + seconds(5)));
  EXPECT_THAT(left_out(limiter, kStart + seconds(10)), ElementsAre(2));
  EXPECT_THAT(left_out(limiter, kStart + seconds(15)), ElementsAre(1));
}

TEST(LogLimiter, MemoryIsBoundedAndNewKeysStillGetAWord) {
  LogLimiter limiter(seconds(10), 2);
  EXPECT_TRUE(admits(limiter, "a", kStart));
  EXPECT_TRUE(admits(limiter, "b", kStart));
  EXPECT_TRUE(admits(limiter, "c", kStart)) << "the first of those that share";
  EXPECT_FALSE(admits(limiter, "d", kStart));
  EXPECT_FALSE(admits(limiter, "e", kStart));
  EXPECT_TRUE(admits(limiter, "f", kStart + seconds(10))) << "old ones were forgotten";
  EXPECT_TRUE(admits(limiter, "g", kStart + seconds(10)));
}

TEST(LogLimiter, TimeThatStepsBackStandsStill) {
  LogLimiter limiter(seconds(10), 2);
  EXPECT_TRUE(admits(limiter, "a", kStart));
  EXPECT_FALSE(admits(limiter, "a", kStart - seconds(100)));
  EXPECT_TRUE(admits(limiter, "a", kStart + seconds(10)));
}

}  // namespace
}  // namespace heatsink
