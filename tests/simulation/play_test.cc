// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "heatsink/base/log.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/shrink.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kShort = Millis(500);

class PlayTest : public testing::Test {
 protected:
  PlayTest() { set_log_level(LogLevel::kOff); }
  const Scenario& faulty_ = *find_scenario("faults at random");
};

TEST_F(PlayTest, TheSameSeedPlaysTheSameHistory) {
  const Played one = play(faulty_, 5, kShort), two = play(faulty_, 5, kShort);
  EXPECT_EQ(one.fingerprint, two.fingerprint);
  EXPECT_EQ(one.operations, two.operations);
  EXPECT_EQ(one.events, two.events);
  EXPECT_NE(one.fingerprint, play(faulty_, 6, kShort).fingerprint);
}

// A case for each scenario, by its place, so that several processes can share them.
class PlayEachTest : public PlayTest, public testing::WithParamInterface<std::size_t> {};

// A cluster whose first fault comes at once has no copies until it is over.
TEST_P(PlayEachTest, CopiesAnswerButThoseOfCounters) {
  const Scenario& scenario = scenarios()[GetParam()];
  const bool is_of_counters = scenario.sessions.front().find("add=") != std::string::npos;
  Played played = play(scenario, 3, kShort);
  if (played.hits == 0 && !is_of_counters) played = play(scenario, 3, scenario.length);
  EXPECT_EQ(played.hits == 0, is_of_counters) << scenario.name;
  EXPECT_GT(played.operations, 0U) << scenario.name;
  EXPECT_TRUE(played.verdict.violations.empty())
      << scenario.name << consistency::to_text(played.verdict, scenario.bound);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, PlayEachTest,
                         testing::Range<std::size_t>(0, scenarios().size()));

TEST_F(PlayTest, CountersAreInPartsAndNoAdditionFails) {
  World world(world_options(*find_scenario("counters in parts"), 3));
  world.play(kShort);
  EXPECT_EQ(world.recorder().errors, 0U) << world.recorder().first_error;
  const auto parts = std::ranges::count_if(world.cluster().stored_names(), [](const auto& name) {
    return name.find(":hs:part:") != std::string::npos;
  });
  EXPECT_EQ(parts, 3 * 5);
}

// Every fifth access of these keys is a write. That pays where each hit spares the server a
// wake-up, and not where a pipeline comes anyway.
TEST_F(PlayTest, AHotKeyHasCopiesAcrossWritesIfTheyPay) {
  const auto share_of_hits = [](const std::string& pipelines, const char* admission) {
    const Scenario scenario{.name = {},
                            .sessions = {"via=1,count=4,set=2000,keys=4,think-us=500" + pipelines},
                            .options = {std::string("cache.admission=") + admission}};
    const Played played = play(scenario, 1, std::chrono::seconds(2));
    return static_cast<double>(played.hits) / static_cast<double>(played.operations);
  };
  EXPECT_GT(share_of_hits(",depth=1", "pays"), 0.9 * share_of_hits(",depth=1", "hot"));
  EXPECT_LT(share_of_hits(",depth=20", "pays"), 0.1 * share_of_hits(",depth=20", "hot"));
}

TEST_F(PlayTest, WhatIsNotPromisedIsFoundBroken) {
  Scenario strict = *find_scenario("late pushes");
  strict.bound = Millis(1);  // pushes are 5 ms late
  EXPECT_FALSE(play(strict, 1, strict.length).verdict.violations.empty());
}

// They are told in quotes, in commands that a shell reads.
TEST_F(PlayTest, NamesAreWithoutQuotes) {
  for (const Scenario& scenario : scenarios())
    EXPECT_EQ(scenario.name.find_first_of("'\\"), std::string::npos) << scenario.name;
}

TEST_F(PlayTest, NoScenarioHasThatName) { EXPECT_EQ(find_scenario("nothing"), nullptr); }

// Broken is here what has a session of db 1, a fault that cuts, and lasts for 100 ms.
TEST_F(PlayTest, ShrinksToWhatIsNeeded) {
  const auto is_broken = [](const Scenario& tried, std::uint64_t, Nanos time) {
    bool has_session = false;
    for (const std::string& session : tried.sessions) has_session |= session.ends_with(",db=1");
    return has_session && tried.faults.cut > 0 && time >= Millis(100);
  };
  const Shrunk smaller = shrink(faulty_, 1, std::chrono::seconds(2), 1000, is_broken);
  EXPECT_EQ(smaller.scenario.sessions.size(), 1U);
  EXPECT_LT(smaller.time, Millis(200));
  int kinds = 0;
  for (const FaultKind& kind : fault_kinds())
    kinds += smaller.scenario.faults.*kind.rate > 0 ? 1 : 0;
  EXPECT_EQ(kinds, 1);
}

}  // namespace
}  // namespace heatsink::simulation
