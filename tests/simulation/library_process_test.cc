// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/library_process.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

WorldOptions world_with_a_library(std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.proxies = 0;
  options.library.count = 1;
  options.sessions = {
      consistency::parse_load_spec("via=1,count=3,depth=4,set=200,think-us=500").value()};
  return options;
}

bool is_same(const consistency::Op& a, const consistency::Op& b) {
  return a.invoked == b.invoked && a.responded == b.responded && a.value == b.value &&
         a.key == b.key && a.session == b.session && a.order == b.order && a.kind == b.kind;
}

consistency::History history_of(std::uint64_t seed) {
  World world(world_with_a_library(seed));
  world.play(std::chrono::seconds(1));
  return world.recorder().history;
}

TEST(LibraryProcess, CallersReadCopiesAndAreRecorded) {
  World world(world_with_a_library(1));
  world.play(std::chrono::seconds(1));
  const consistency::History& history = world.recorder().history;
  EXPECT_GT(history.size(), 1000U);
  EXPECT_GT(world.hits(), history.size() / 2);
  EXPECT_EQ(world.recorder().errors, 0U) << world.recorder().first_error;
  EXPECT_TRUE(
      std::all_of(history.begin(), history.end(), [](const auto& op) { return op.known(); }));
  EXPECT_TRUE(consistency::judge(history, Nanos(0)).violations.empty());
}

TEST(LibraryProcess, ASeedPlaysTheSameHistory) {
  const consistency::History first = history_of(7), again = history_of(7), other = history_of(8);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), again.begin(), again.end(), is_same));
  EXPECT_FALSE(std::equal(first.begin(), first.end(), other.begin(), other.end(), is_same));
}

TEST(LibraryProcess, WhatAKilledProcessDidIsOfUnknownOutcome) {
  WorldOptions options = world_with_a_library(2);
  options.sessions[0].set = consistency::LoadSpec::kParts;  // writes only, which take a while
  options.sessions[0].think_us = 0;
  options.faults.restart_library = 5;
  options.faults.stop_max = Millis(50);
  World world(options);
  world.play(std::chrono::seconds(2));
  const consistency::History& history = world.recorder().history;
  const auto unknown =
      std::count_if(history.begin(), history.end(), [](const auto& op) { return !op.known(); });
  EXPECT_GT(unknown, 3);
  EXPECT_LT(unknown, 100);
  EXPECT_GT(history.size(), 1000U) << "new processes go on";
}

}  // namespace
}  // namespace heatsink::simulation
