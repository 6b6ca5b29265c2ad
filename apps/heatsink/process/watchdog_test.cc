// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "apps/heatsink/process/notify_socket_for_test.h"
#include "heatsink/base/log.h"

namespace heatsink::app {
namespace {

TEST(Watchdog, AStuckProcessGivesNoSign) {
  const NotifySocket socket(notify_path("stuck"));
  const ServiceManager manager({.socket = socket.address()});
  give_sign_of_life(manager, [] { return Status(Unit{}); });
  EXPECT_EQ(socket.next(), "WATCHDOG=1");
  set_log_sink([](LogLevel, std::string_view) {});
  give_sign_of_life(manager, [] {
    return Status(Error{ErrorCode::kTimedOut, "worker 0 is stuck"});
  });
  set_log_sink({});
  EXPECT_EQ(socket.next(), "STATUS=worker 0 is stuck");
  EXPECT_EQ(socket.next_if_there(), "");
}

TEST(Watchdog, SignsComeAgainAndAgainUntilItEnds) {
  const NotifySocket socket(notify_path("signs"));
  const ServiceManager manager({.socket = socket.address(), .watchdog = Millis(2)});
  std::atomic<int> asked{0};
  {
    const Watchdog watchdog(manager, [&asked] {
      ++asked;
      return Status(Unit{});
    });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(socket.next(), "WATCHDOG=1");
  }
  EXPECT_GE(asked, 3);
}

TEST(Watchdog, AnIntervalOfADayDoesNotDelayTheEnd) {
  const ServiceManager manager({.watchdog = std::chrono::hours(24)});
  std::atomic<int> asked{0};
  {
    const Watchdog watchdog(manager, [&asked] {
      ++asked;
      return Status(Unit{});
    });
  }
  EXPECT_LE(asked, 1);
}

TEST(Watchdog, NobodyIsAskedWithoutALimit) {
  bool asked = false;
  {
    const ServiceManager manager({});
    const Watchdog watchdog(manager, [&asked] {
      asked = true;
      return Status(Unit{});
    });
  }
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace heatsink::app
