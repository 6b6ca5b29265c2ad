// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/wall_clock.h"

#include <gtest/gtest.h>

#include "tests/consistency/history_for_test.h"
#include "tests/consistency/verdict.h"

namespace heatsink::simulation {
namespace {

using consistency::at;
using consistency::HistoryMaker;

constexpr Nanos kLifeMax = std::chrono::seconds(10);

bool is_right(HistoryMaker maker, const WallClock& server, Nanos copy_life_max = kLifeMax,
              const WallClock& clients = WallClock()) {
  note_lives(maker.history, server, clients, copy_life_max);
  return consistency::judge(maker.history, Millis(0)).violations.empty();
}

TEST(WallClock, ShowsTheTimeUntilItJumps) {
  WallClock clock;
  EXPECT_TRUE(clock.has_always_told_time());
  EXPECT_EQ(clock.at(at(5)), at(5));
  clock.jump(at(10), Millis(100));
  clock.jump(at(20), Millis(-300));
  EXPECT_FALSE(clock.has_always_told_time());
  EXPECT_EQ(clock.at(at(5)), at(5));
  EXPECT_EQ(clock.at(at(10)), at(110));
  EXPECT_EQ(clock.at(at(19)), at(119));
  EXPECT_EQ(clock.at(at(20)), at(-180));
  EXPECT_EQ(clock.least_in(at(0), at(15)), at(0));
  EXPECT_EQ(clock.most_in(at(0), at(15)), at(115));
  EXPECT_EQ(clock.least_in(at(15), at(25)), at(-180));
  EXPECT_EQ(clock.least_ahead_in(at(0), at(15)), Millis(0));
  EXPECT_EQ(clock.least_ahead_in(at(12), at(30)), Millis(-200));
}

TEST(WallClock, AMomentMayComeOftenOrBeLeftOut) {
  WallClock clock;
  clock.jump(at(10), Millis(100));
  EXPECT_EQ(clock.first_not_before(at(5), at(0)), at(5));
  EXPECT_EQ(clock.first_not_before(at(50), at(0)), at(10));  // it is left out
  EXPECT_EQ(clock.last_not_after(at(50), at(0)), at(10));
  EXPECT_EQ(clock.first_not_before(at(5), at(7)), at(7));
  EXPECT_EQ(clock.last_not_after(at(5), at(7)), at(7));
  clock.jump(at(20), Millis(-110));
  EXPECT_EQ(clock.first_not_before(at(15), at(0)), at(10));
  EXPECT_EQ(clock.last_not_after(at(15), at(0)), at(25));  // it comes again
}

TEST(WallClock, Drifts) {
  const WallClock fast(0.5);
  const TimePoint shown = fast.at(at(100));
  EXPECT_EQ(fast.at(at(102)) - shown, Millis(3));
  EXPECT_EQ(fast.first_not_before(shown + Millis(3), at(0)), at(102));
  EXPECT_EQ(fast.last_not_after(shown + Millis(3), at(0)), at(102));
}

TEST(NoteLives, WithoutAJumpTheTtlTells) {
  const WallClock clock;
  EXPECT_TRUE(is_right(HistoryMaker().write(1, 0, 1, 100).read(1, 103, 106), clock));
  EXPECT_FALSE(is_right(HistoryMaker().write(1, 0, 1, 100).read(1, 106, 107), clock));
  EXPECT_FALSE(is_right(HistoryMaker().write(1, 0, 1, 100).read(0, 50, 51), clock));
}

TEST(NoteLives, AServerWhoseClockIsPutForwardHasNoKeyAndCopiesLiveOn) {
  WallClock clock;
  clock.jump(at(10), Millis(1000));
  const auto written = [] { return HistoryMaker().write(1, 0, 1, 100); };
  EXPECT_TRUE(is_right(written().read(0, 11, 12), clock));
  EXPECT_FALSE(is_right(written().server_read(1, 20, 21), clock));
  EXPECT_TRUE(is_right(written().read(1, 20, 21), clock));
  EXPECT_FALSE(is_right(written().read(1, 20, 21), clock, Millis(5)));
  EXPECT_FALSE(is_right(written().read(1, 110, 111), clock));
}

TEST(NoteLives, AServerWhoseClockIsPutBackKeepsTheKey) {
  WallClock clock;
  clock.jump(at(10), Millis(-1000));
  const auto written = [] { return HistoryMaker().write(1, 0, 1, 100); };
  EXPECT_TRUE(is_right(written().server_read(1, 1000, 1001), clock));
  EXPECT_TRUE(is_right(written().read(1, 1000, 1001), clock));
  EXPECT_FALSE(is_right(written().server_read(1, 1110, 1111), clock));
  EXPECT_FALSE(is_right(written().read(0, 200, 201), clock));
}

TEST(NoteLives, AClientMayNameAMomentThatIsOver) {
  WallClock clients;
  clients.jump(at(0), Millis(-500));
  HistoryMaker maker;
  maker.write(1, 10, 11, 100).read(0, 12, 13);
  maker.history.front().is_moment = true;
  EXPECT_TRUE(is_right(maker, WallClock(), kLifeMax, clients));
  EXPECT_FALSE(is_right(maker.read(1, 20, 21), WallClock(), kLifeMax, clients));
}

TEST(NoteLives, AShortenedLife) {
  WallClock clock;
  clock.jump(at(10), Millis(1000));
  const auto maker = [] { return HistoryMaker().write(1, 0, 1).expire(100, 2, 3); };
  EXPECT_FALSE(is_right(maker().server_read(1, 20, 21), clock));
  EXPECT_TRUE(is_right(maker().read(1, 20, 21), clock));
  EXPECT_FALSE(is_right(maker().read(1, 110, 111), clock));
}

}  // namespace
}  // namespace heatsink::simulation
