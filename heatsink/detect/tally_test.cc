// SPDX-License-Identifier: Apache-2.0
// Commands and clients of the busiest keys, as a Recorder tells them.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/access_for_test.h"
#include "heatsink/detect/recorder.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

class Names final : public TallyNames {
 public:
  std::string command(std::uint16_t number) const override {
    return "command " + std::to_string(number);
  }
  std::string client(std::uint32_t number) const override {
    return "client " + std::to_string(number);
  }
};

const Tally* tally_named(const std::vector<Tally>& tallies, const std::string& name) {
  for (const Tally& tally : tallies) {
    if (tally.name == name) return &tally;
  }
  return nullptr;
}

TEST(Tallies, ExactWhileEveryAccessIsSeen) {
  const Names names;
  Recorder recorder({.names = &names});
  const std::string key = "k";
  Access access = read_of(key);
  recorder.record(access, kStart);
  recorder.summarize(kStart, 10);  // gives the place
  for (std::uint32_t i = 0; i < 60; ++i) {
    access.command = i % 3 == 0 ? 2 : 1;
    access.client = i % 4;
    recorder.record(access, kStart + seconds(1));
  }
  const Summary summary = recorder.summarize(kStart + seconds(1), 10);
  const KeyCount& told = summary.keys.at(0);
  // The access before the key had a row may be of any client.
  const std::vector<Tally> commands{{"command 1", 40, 41}, {"command 2", 20, 21}};
  EXPECT_EQ(told.commands, commands);
  ASSERT_EQ(told.clients.size(), 4u);
  for (const Tally& client : told.clients) {
    EXPECT_EQ(client.low, 15u);
    EXPECT_EQ(client.high, 16u);
  }
}

TEST(Tallies, WhatIsNotSaidIsNotToldAndWithoutNamesNothingIs) {
  const Names names;
  for (const bool named : {false, true}) {
    Recorder recorder({.names = named ? &names : nullptr});
    const std::string key = "k";
    Access access = read_of(key);
    if (!named) access.command = 1;
    for (int i = 0; i < 10; ++i) {
      recorder.record(access, kStart);
      recorder.summarize(kStart, 10);
    }
    const Summary summary = recorder.summarize(kStart, 10);
    EXPECT_TRUE(summary.keys.at(0).commands.empty());
    EXPECT_TRUE(summary.keys.at(0).clients.empty());
  }
}

TEST(Tallies, OnlyTheBusiestHavePlaces) {
  const Names names;
  Recorder recorder({.names = &names});
  EXPECT_LE(recorder.memory_bytes(), 2'500'000u);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const std::string key = std::to_string(i);
      Access access = read_of(key);
      access.command = 7;
      for (int n = 0; n < (i < 100 ? 5 : 1); ++n) recorder.record(access, kStart);
    }
    recorder.summarize(kStart, 1000);
  }
  const Summary summary = recorder.summarize(kStart, 1000);
  std::size_t told = 0;
  for (const KeyCount& key : summary.keys) told += key.commands.empty() ? 0U : 1U;
  EXPECT_GE(told, 100u);
  EXPECT_LE(told, 255u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(summary.keys.at(i).commands.size(), 1u) << i;
}

// More clients than rows, also faster than every access is looked at, while the window turns.
void expect_truth_within_bounds(int per_second) {
  const Names names;
  Recorder recorder({.window = seconds(1), .names = &names});
  std::mt19937 random(3);
  std::map<std::string, std::deque<TimePoint>> truth;
  const std::string key = "k";
  TimePoint now = kStart;
  const Nanos step(1'000'000'000 / per_second);
  for (int i = 1; i <= 4 * per_second; ++i, now += step) {
    Access access = read_of(key);
    // Three have half of it, five hundred the rest.
    access.client = static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 3 : 500));
    recorder.record(access, now);
    truth[names.client(access.client)].push_back(now);
    if (i % (per_second / 10) != 0) continue;
    const Summary summary = recorder.summarize(now, 10);
    const std::vector<Tally>& clients = summary.keys.at(0).clients;
    const TimePoint oldest = now - now.time_since_epoch() % Nanos(100'000'000) - Nanos(900'000'000);
    for (auto& [name, times] : truth) {
      while (!times.empty() && times.front() < oldest) times.pop_front();
      const Tally* tally = tally_named(clients, name);
      if (tally == nullptr) continue;
      ASSERT_LE(tally->low, times.size());
      ASSERT_GE(tally->high, times.size());
    }
    if (i < 2 * per_second) continue;
    for (std::size_t row = 0; row < 3; ++row) ASSERT_LE(clients.at(row).name, names.client(2));
  }
}

// The bounds from a sample hold for all accesses: at least half of a window is covered.
TEST(Tallies, ASampleProvesNearlyAllThatItStandsFor) {
  const Names names;
  Recorder recorder({.window = seconds(1), .names = &names});
  const std::string key = "k";
  constexpr int kPerSecond = 200'000;
  TimePoint now = kStart;
  for (int i = 1; i <= 4 * kPerSecond; ++i, now += Nanos(1'000'000'000 / kPerSecond)) {
    Access access = read_of(key);
    access.command = i % 10 == 0 ? 2 : 1;
    recorder.record(access, now);
    if (i % (kPerSecond / 10) != 0) continue;
    const Summary summary = recorder.summarize(now, 10);
    if (i < 2 * kPerSecond) continue;
    const KeyCount& told = summary.keys.at(0);
    ASSERT_EQ(told.commands.size(), 2u);
    ASSERT_GE(told.commands[0].low, 9 * kPerSecond / 20 * 9 / 10);
    ASSERT_GE(told.commands[1].low, kPerSecond / 20 * 8 / 10);
    ASSERT_LE(told.commands[0].low + told.commands[1].low, told.reads + told.writes);
  }
}

TEST(Tallies, TheTruthLiesWithinTheBounds) { expect_truth_within_bounds(5'000); }

TEST(Tallies, TheTruthLiesWithinTheBoundsOfASample) { expect_truth_within_bounds(200'000); }

}  // namespace
}  // namespace heatsink::detect
