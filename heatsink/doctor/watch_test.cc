// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/doctor/facts_for_test.h"

namespace heatsink::doctor {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const Status kFine{Unit{}};

TEST(Watch, LooksAtTheStartOnItsOwnThreadAndLogsWhatIsWrong) {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::promise<void> logged;
  set_log_sink([&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (lines.empty()) logged.set_value();
    lines.emplace_back(line);
  });
  {
    Watch watch({.look =
                     [](When when, const std::atomic<bool>&) {
                       EXPECT_EQ(when, When::kStart);
                       Facts facts = healthy();
                       set_info(facts.server, "redis_mode", "sentinel");
                       return facts;
                     },
                 .contacts = [] { return std::uint64_t{0}; }});
    logged.get_future().wait();
    EXPECT_FALSE(watch.verdict(kFine).ok());
    const Diagnosis told = watch.diagnosis(kFine);
    EXPECT_FALSE(told.is_ready);
    EXPECT_NE(told.checked_at, "");
    EXPECT_EQ(count_of(told.findings, Level::kError), 1U);
  }
  set_log_sink({});
  EXPECT_THAT(lines, Contains(HasSubstr("server-kind: 127.0.0.1:6379 is a Sentinel")));
}

TEST(Watch, ItsEndStopsALook) {
  std::promise<void> began;
  Watch watch({.look =
                   [&](When, const std::atomic<bool>& stop) {
                     began.set_value();
                     while (!stop) std::this_thread::yield();
                     return healthy();
                   },
               .contacts = [] { return std::uint64_t{0}; }});
  began.get_future().wait();
  EXPECT_EQ(watch.diagnosis(kFine).checked_at, "") << "the look is not over";
  EXPECT_TRUE(watch.verdict(kFine).ok());
}

}  // namespace
}  // namespace heatsink::doctor
