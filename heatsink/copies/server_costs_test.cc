// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_costs.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

admit::Costs costs_after(const ServerWork& work) {
  ServerCosts costs;
  costs.saw(work);
  return costs.costs();
}

// Clients with one command at a time: each hit spares the server a wake-up.
TEST(ServerCostsTest, AFillThatReplacesALoneReadIsCheap) {
  const admit::Costs costs =
      costs_after({.commands = 1000, .writes = 1000, .awaited_fills = 100, .fill_writes = 100});
  EXPECT_LT(costs.fill, 0.1);
  EXPECT_LT(costs.end, 0.6);
}

// Clients that pipeline: a hit spares one command of many, and a fill wakes the server up.
TEST(ServerCostsTest, AFillOfItsOwnIsDearBesideManyCommandsAtOnce) {
  const admit::Costs costs =
      costs_after({.commands = 20'000, .writes = 1000, .gathered_fills = 100, .fill_writes = 100});
  EXPECT_GT(costs.fill, 10);
  EXPECT_GT(costs.end, 5);
}

TEST(ServerCostsTest, FillsAtOnceShareAWakeUp) {
  const admit::Costs costs =
      costs_after({.commands = 20'000, .writes = 1000, .gathered_fills = 320, .fill_writes = 10});
  EXPECT_NEAR(costs.fill, 2.2, 0.2);
}

// It would have come with others, so it spares no wake-up. The fill comes alone.
TEST(ServerCostsTest, AFillThatReplacesOneOfManyReadsIsDear) {
  const admit::Costs costs =
      costs_after({.commands = 20'000, .writes = 1000, .awaited_fills = 100, .fill_writes = 100});
  EXPECT_GT(costs.fill, 10);
}

TEST(ServerCostsTest, AFillNeverPaysByItself) {
  const admit::Costs costs =
      costs_after({.commands = 1000, .writes = 1000, .awaited_fills = 1000, .fill_writes = 10});
  EXPECT_EQ(costs.fill, 0);
}

TEST(ServerCostsTest, TellsTheReadsThatPayForACopy) {
  EXPECT_EQ(costs_after({.commands = 1000, .writes = 1000}).reads_to_pay, 1U);
  const admit::Costs dear = costs_after({.commands = 20'000, .writes = 1000});
  EXPECT_NEAR(dear.reads_to_pay, dear.fill + dear.end, 1);
  EXPECT_GT(dear.reads_to_pay, dear.fill + dear.end);
}

TEST(ServerCostsTest, BeforeAnyTrafficAFillCostsSomething) {
  EXPECT_GT(ServerCosts().costs().fill, 0);
}

TEST(ServerCostsTest, ALoneReadSparesAWakeUpAndOneOfManyDoesNot) {
  ServerCosts alone, many;
  alone.saw({.commands = 1000, .writes = 1000});
  many.saw({.commands = 20'000, .writes = 1000});
  EXPECT_NEAR(static_cast<double>(alone.spared_cpu().count()), 37'400, 1);
  EXPECT_NEAR(static_cast<double>(many.spared_cpu().count()), 2'288, 1);
}

TEST(ServerCostsTest, OlderWorkCountsLess) {
  ServerCosts costs;
  costs.saw({.commands = 20'000, .writes = 1000});
  const double before = costs.costs().end;
  for (int i = 0; i < 30; ++i) costs.tick();
  costs.saw({.commands = 1000, .writes = 1000});
  EXPECT_LT(costs.costs().end, before / 4);
}

}  // namespace
}  // namespace heatsink::copies
