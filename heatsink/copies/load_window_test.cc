// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/load_window.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr Nanos kTenSeconds = seconds(10);

TimePoint second(double number) { return TimePoint(Nanos(static_cast<Nanos::rep>(number * 1e9))); }

// One key, five reads and a write in turn: the write ends the copy, the next read fills it with two
// commands. Of six commands the server gets three.
TEST(CommandLoad, IsWhatTheServersWereSpared) {
  EXPECT_DOUBLE_EQ((CommandLoad{.sent = 600, .executed = 300, .own = 200}).taken_off(), 0.5);
}

TEST(CommandLoad, IsNegativeIfHeatsinkSendsMoreThanItSpares) {
  EXPECT_DOUBLE_EQ((CommandLoad{.sent = 100, .executed = 150, .own = 50}).taken_off(), -0.5);
  EXPECT_DOUBLE_EQ((CommandLoad{.sent = 0, .executed = 20, .own = 20}).taken_off(), 0)
      << "no part of nothing";
}

TEST(LoadWindow, CoversTheWindowOnly) {
  LoadWindow window;
  CommandLoad total;
  for (int tick = 0; tick <= 300; ++tick) {  // 30 s: first nothing is spared, then nine in ten
    window.note(second(tick * 0.1), total, kTenSeconds);
    total.sent += 100;
    total.executed += tick < 150 ? 100 : 10;
  }
  const LoadWindow::Span span = window.over(second(30.1), total, kTenSeconds);
  EXPECT_NEAR(span.load.taken_off(), 0.9, 1e-9);
  EXPECT_NEAR(std::chrono::duration<double>(span.covered).count(), 10, 0.3);
  EXPECT_NEAR(span.per_second(span.load.sent), 1000, 10);
}

TEST(LoadWindow, AfterAStartItCoversWhatThereIs) {
  LoadWindow window;
  EXPECT_EQ(window.over(second(0), {}, kTenSeconds).covered, Nanos(0));
  window.note(second(0), {}, kTenSeconds);
  const auto span = window.over(second(2), {.sent = 10, .executed = 4, .own = 1}, kTenSeconds);
  EXPECT_EQ(span.covered, seconds(2));
  EXPECT_DOUBLE_EQ(span.load.taken_off(), 0.6);
  EXPECT_DOUBLE_EQ(span.per_second(span.load.sent), 5);
}

}  // namespace
}  // namespace heatsink::copies
