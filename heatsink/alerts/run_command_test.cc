// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/run_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heatsink::alerts {
namespace {

using ::testing::HasSubstr;

constexpr Nanos kLong = std::chrono::minutes(1);
const std::atomic<bool> kRunOn{false};

TEST(RunCommand, TheProgramGetsTheMessage) {
  const std::string path = ::testing::TempDir() + "heatsink-alert-" + std::to_string(getpid());
  std::filesystem::remove(path);
  const Outcome outcome = run_command("/usr/bin/tee  " + path, "{\"a\":1}\n", kLong, kRunOn);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kDelivered) << outcome.problem;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "{\"a\":1}\n");
  std::filesystem::remove(path);
}

TEST(RunCommand, FailuresSayWhy) {
  Outcome outcome = run_command("/bin/false", "", kLong, kRunOn);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(outcome.problem, HasSubstr("status 1"));
  outcome = run_command("/nowhere/program", "", kLong, kRunOn);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(outcome.problem, HasSubstr("No such file"));
}

TEST(RunCommand, WithoutAnExitStatusItIsNoSuccess) {
  auto* const before = signal(SIGCHLD, SIG_IGN);
  const Outcome outcome = run_command("/bin/true", "", kLong, kRunOn);
  signal(SIGCHLD, before);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_EQ(outcome.problem, "its exit status is not known");
}

TEST(RunCommand, OneThatHangsIsKilledInTime) {
  const TimePoint began = BootClock::now();
  const Outcome outcome = run_command("/bin/sleep 1000", "", Millis(50), kRunOn);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(outcome.problem, HasSubstr("does not end within 50ms"));
  EXPECT_LT(BootClock::now() - began, kLong);
}

TEST(RunCommand, TheEndOfTheProxyIsItsEnd) {
  const std::atomic<bool> stop{true};
  EXPECT_EQ(run_command("/bin/sleep 1000", "", std::chrono::hours(1), stop).problem,
            "heatsink ends");
}

}  // namespace
}  // namespace heatsink::alerts
