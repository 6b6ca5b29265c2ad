// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hit_clock.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace heatsink::client {
namespace {

// Compares the clocks for this time and calls sync() every 10 ms.
void expect_never_late(HitClock& clock, Nanos how_long) {
  const TimePoint end = BootClock::now() + how_long;
  TimePoint sync_at = BootClock::now();
  for (TimePoint before = sync_at; before < end;) {
    before = BootClock::now();
    const TimePoint shown = clock.now();
    const TimePoint after = BootClock::now();
    ASSERT_GE(shown, before);
    // At most 0.1 % of the time since the last sync(), unless this process was suspended.
    ASSERT_LE(shown, after + Millis(1) + (after - sync_at) / 500);
    if (after < sync_at) continue;
    clock.sync();
    sync_at = after + Millis(10);
  }
}

TEST(HitClock, IsNeverLate) {
  HitClock clock;
  EXPECT_TRUE(clock.is_exact());
  expect_never_late(clock, Millis(200));
}

TEST(HitClock, IsTheExactOneWhereTheKernelDoesNotCountTicks) {
  HitClock clock(system_runtime(), "/nonexistent");
  expect_never_late(clock, Millis(100));
  EXPECT_TRUE(clock.is_exact());
}

TEST(HitClock, CountsTicksWhereTheKernelDoes) {
  std::string source;
  std::ifstream(HitClock::kClockSourceFile) >> source;
  if (source != "tsc") GTEST_SKIP() << "the kernel keeps its time by '" << source << "'";
  HitClock clock;
  const TimePoint end = BootClock::now() + std::chrono::minutes(1);
  while (clock.is_exact() && BootClock::now() < end) clock.sync();
  EXPECT_FALSE(clock.is_exact());
  const TimePoint before = BootClock::now();
  EXPECT_GE(clock.now(), before);
}

}  // namespace
}  // namespace heatsink::client
