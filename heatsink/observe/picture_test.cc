// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heatsink/observe/rows.h"

namespace heatsink::observe {
namespace {

using testing::ElementsAre;

NodeObservation node(const std::string& name, double requests_rate,
                     const std::vector<std::pair<std::string, double>>& keys) {
  NodeObservation out;
  out.node = name;
  out.seen.state = SourceState::kRunning;
  std::vector<KeyRow> rows;
  for (const auto& [key, rate] : keys) {
    KeyRow row;
    row.count.key = key;
    row.rate = {rate, rate, rate};
    rows.push_back(row);
  }
  out.seen.report = make_report(std::move(rows), {.requests_rate = requests_rate}, name,
                                std::chrono::seconds(1), std::chrono::seconds(1), TimePoint());
  return out;
}

TEST(JoinNodes, OrdersTheRowsOfAllAndTellsWhereTheyAre) {
  const Observation out =
      join_nodes({node("a", 1000, {{"x", 500}, {"y", 1}}), node("b", 3000, {{"z", 900}})}, "seed");
  ASSERT_EQ(out.report.keys.size(), 3U);
  EXPECT_EQ(out.report.keys[0].verdict.count.key, "z");
  EXPECT_THAT(out.node_of_row, ElementsAre("b", "a", "a"));
  EXPECT_EQ(out.report.requests_rate, 4000);
  EXPECT_EQ(out.report.upstream, "seed");
  EXPECT_EQ(out.report.hot_keys, 2U);                  // each of its node
  EXPECT_EQ(out.report.keys[1].verdict.share, 0.125);  // of all
}

TEST(JoinNodes, KeepsTheBusiestRowsOnly) {
  std::vector<std::pair<std::string, double>> many;
  for (int i = 0; i < 80; ++i) many.emplace_back("k" + std::to_string(i), 1000 - i);
  std::vector<NodeObservation> all{node("a", 1e5, many), node("b", 1e5, many)};
  for (NodeObservation& each : all) each.seen.report.absent_max = 3;
  const Observation out = join_nodes(std::move(all), "seed");
  EXPECT_EQ(out.report.keys.size(), kRowsMax);
  EXPECT_EQ(out.report.absent_max, 950);  // the first that is left out
}

TEST(JoinNodes, SlotsOfAllByWhatIsKnownOfThem) {
  const double unknown = std::nan("");
  std::vector<NodeObservation> all{node("a", 1, {}), node("b", 1, {})};
  all[0].seen.slots = {{.slot = 1, .cpu_share = unknown, .rate = 5},
                       {.slot = 2, .cpu_share = unknown, .rate = 1}};
  all[1].seen.slots = {{.slot = 3, .cpu_share = unknown, .rate = 3}};
  const auto by_rate = join_nodes(all, "").slots;
  ASSERT_EQ(by_rate.size(), 3U);
  EXPECT_EQ(by_rate[1].slot, 3);
  EXPECT_EQ(by_rate[1].node, "b");
  all[0].seen.slots = {{.slot = 1, .cpu_share = 0.1}, {.slot = 2, .cpu_share = unknown}};
  all[1].seen.slots = {{.slot = 3, .cpu_share = 0.7}};
  const auto by_share = join_nodes(all, "").slots;
  ASSERT_EQ(by_share.size(), 3U);
  EXPECT_EQ(by_share[0].slot, 3);
  EXPECT_EQ(by_share[2].slot, 2);
}

TEST(JoinNodes, NotesNameTheirNodes) {
  std::vector<NodeObservation> all{node("a", 1, {}), node("b", 1, {}), node("c", 1, {})};
  all[1].seen.note = "gone";
  EXPECT_EQ(join_nodes(all, "").note, "b: gone");
  all[2].seen.note = "slow";
  EXPECT_EQ(join_nodes(all, "").note, "b: gone; c: slow");
  for (NodeObservation& each : all) each.seen.note = "no LFU";
  EXPECT_EQ(join_nodes(all, "").note, "each node: no LFU");
}

TEST(JoinNodes, ThereIsTroubleWhenThereIsWithEach) {
  std::vector<NodeObservation> all{node("a", 1, {}), node("b", 1, {})};
  all[0].seen.trouble = "refused";
  EXPECT_EQ(join_nodes(all, "").trouble, "");
  all[1].seen.trouble = "gone";
  EXPECT_EQ(join_nodes(all, "").trouble, "refused");
}

TEST(JoinNodes, TheLiveliestStateCountsAndTheProgressOfAllWork) {
  std::vector<NodeObservation> all{node("a", 1, {}), node("b", 1, {})};
  all[0].seen.state = SourceState::kFailed;
  EXPECT_EQ(join_nodes(all, "").state, SourceState::kRunning);
  EXPECT_LT(join_nodes(all, "").progress, 0);
  all[0].seen.progress = 1;
  all[0].seen.work = 300;
  all[1].seen.progress = 0;
  all[1].seen.work = 100;
  EXPECT_EQ(join_nodes(all, "").progress, 0.75);
}

TEST(JoinNodes, WhatAnAbsentKeyCanHaveIsUnknownWhereOneNodeDoesNotKnow) {
  std::vector<NodeObservation> all{node("a", 1, {}), node("b", 1, {})};
  all[0].seen.report.absent_max = 30;
  EXPECT_FALSE(join_nodes(all, "").report.absent_max);
  all[1].seen.report.absent_max = 20;
  EXPECT_EQ(join_nodes(all, "").report.absent_max, 30);
}

}  // namespace
}  // namespace heatsink::observe
