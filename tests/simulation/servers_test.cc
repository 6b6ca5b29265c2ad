// SPDX-License-Identifier: Apache-2.0
// Servers that change places or roles, seen by a whole world.
#include "tests/simulation/servers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "tests/consistency/verdict.h"
#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

constexpr Nanos kPlayed = seconds(5);

class ServersTest : public testing::Test {
 protected:
  ServersTest() { set_log_level(LogLevel::kOff); }

  // A world of this scenario, with its clients and faults.
  static std::unique_ptr<World> world_of(const Scenario& scenario) {
    return std::make_unique<World>(world_options(scenario, 5));
  }
  static Scenario quiet(std::vector<std::string> sessions) {
    return {.name = "quiet",
            .sessions = std::move(sessions),
            .bound = seconds(1),
            .servers = {.has_replica = true}};
  }
  static void at(World& world, Nanos time, std::function<void()> act) {
    world.scheduler().call_after(time, std::move(act));
  }
};

// Its data may be of any age: no copy speaks while it is one, and all do again behind it.
TEST_F(ServersTest, AReplicaIsNoSourceOfCopies) {
  const auto world = world_of(quiet({"via=1,count=4,think-us=1000,keys=4"}));
  std::uint64_t before = 0, settled = 0, as_replica = 0, after = 0;
  at(*world, Millis(990), [&] { before = world->hits(); });
  at(*world, Millis(1000), [&] { world->servers().demote(); });
  at(*world, Millis(1500), [&] { settled = world->hits(); });
  at(*world, Millis(3000), [&] { as_replica = world->hits(); });
  at(*world, Millis(3000), [&] { world->servers().promote(); });
  at(*world, Millis(5000), [&] { after = world->hits(); });
  world->play(kPlayed + Millis(1));
  EXPECT_GT(before, 100U);
  EXPECT_EQ(as_replica, settled);
  EXPECT_GT(after, as_replica + 100);
}

TEST_F(ServersTest, TrackersFollowTheirProxysConnectionsToAnotherServer) {
  const auto world = world_of(quiet({"via=1,count=4,depth=4,set=100,think-us=1000"}));
  std::size_t at_once = 0, soon = 1;
  at(*world, Millis(1000), [&] {
    world->servers().fail_over(seconds(10), Servers::Old::kKeepsTrackers);
    at_once = world->servers().clients_of_old();
  });
  at(*world, Millis(1300), [&] { soon = world->servers().clients_of_old(); });
  world->play(kPlayed);
  EXPECT_GE(at_once, 1U);
  EXPECT_EQ(soon, 0U);
  EXPECT_TRUE(consistency::judge(world->history(), seconds(1)).violations.empty());
}

// The replica lags by half a second: what was written in it is lost.
TEST_F(ServersTest, AFailoverLosesWritesAndTheHistorySaysSo) {
  Scenario scenario = quiet({"via=1,count=4,depth=4,set=500,think-us=1000"});
  scenario.servers.replica_lag = Millis(500);
  const auto world = world_of(scenario);
  at(*world, seconds(2), [&] { world->servers().fail_over(seconds(10), Servers::Old::kIsGone); });
  world->play(kPlayed);
  const auto breaks = [](const consistency::History& history) {
    return !consistency::judge(history, seconds(1)).violations.empty();
  };
  EXPECT_TRUE(breaks(world->recorder().history));
  EXPECT_FALSE(breaks(world->history()));
}

TEST_F(ServersTest, ARestartWithOlderDataIsNotOneWithout) {
  Scenario scenario = quiet({"via=0,count=2,set=5000,think-us=5000"});
  scenario.servers.dump_interval = Millis(300);
  const auto world = world_of(scenario);
  at(*world, Millis(1000), [&] { world->servers().restart_older(Millis(50)); });
  at(*world, Millis(2000), [&] { world->servers().restart_empty(Millis(50)); });
  at(*world, Millis(3000), [&] { world->servers().restart(Millis(50)); });
  world->play(kPlayed);
  std::size_t lost = 0, removed = 0;
  for (const consistency::Op& op : world->history()) {
    const bool is_restored = op.via == 0 && op.responded - op.invoked == Millis(50);
    lost += is_restored && op.kind == consistency::Kind::kWrite ? 1 : 0;
    removed += is_restored && op.kind == consistency::Kind::kErase ? 1 : 0;
  }
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(removed, 8U);  // of as many keys
  EXPECT_TRUE(consistency::judge(world->history(), Nanos(0)).violations.empty());
}

// A suspended machine's clock is late by the time that it stood still, until it is set.
TEST_F(ServersTest, ASuspendedMachinesClockIsLateUntilItIsSet) {
  const auto world = world_of(quiet({"via=1,think-us=1000"}));
  const TimePoint begun = world->scheduler().now();
  at(*world, Millis(1000), [&] { world->servers().suspend(Millis(700)); });
  world->play(kPlayed);
  const WallClock& clock = world->servers().clock();
  EXPECT_EQ(clock.at(begun + Millis(1600)), begun + Millis(1600));
  EXPECT_EQ(clock.at(begun + Millis(1700)), begun + Millis(1000));
  EXPECT_EQ(clock.at(begun + Millis(2700)), begun + Millis(2700));
}

}  // namespace
}  // namespace heatsink::simulation
