// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>

namespace heatsink::app {
namespace {

// Signals of one thread, so that they reach nothing else of the test program.
TEST(EndSignals, AHangUpEndsNothingWhileTheTerminalIsThere) {
  std::thread([] {
    EndSignals signals;
    EXPECT_FALSE(signals.came());
    pthread_kill(pthread_self(), SIGHUP);
    EXPECT_FALSE(signals.came());
    EXPECT_FALSE(signals.wait_until(BootClock::now() + Millis(1)));
    pthread_kill(pthread_self(), SIGHUP);
    pthread_kill(pthread_self(), SIGINT);
    EXPECT_TRUE(signals.came()) << "the one behind it counts";
    EXPECT_TRUE(signals.came()) << "and it stays so";
  }).join();
}

}  // namespace
}  // namespace heatsink::app
