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
  const admit::Costs costs = costs_after({.commands = 1000, .writes = 1000, .awaited_fills = 1000});
  EXPECT_LT(costs.of_fill(0), 0.1);
  EXPECT_LT(costs.end, 0.6);
}

// Clients that pipeline: a hit spares one command of many, and a fill wakes the server up.
TEST(ServerCostsTest, AFillOfItsOwnIsDearBesideManyCommandsAtOnce) {
  const admit::Costs costs =
      costs_after({.commands = 20'000, .writes = 1000, .gathered_fills = 1000});
  EXPECT_GT(costs.of_fill(0), 20);
  EXPECT_GT(costs.end, 5);
}

// Of 1000 reads, 5 % need a fill: 50, but no more than 32 are sent at once.
TEST(ServerCostsTest, FillsAtOnceShareAWakeUp) {
  ServerCosts server;
  server.saw({.commands = 20'000, .writes = 1000, .gathered_fills = 10'000});
  server.set_reads_together(1000);
  const admit::Costs costs = server.costs();
  EXPECT_NEAR(costs.of_fill(0.05), 3.1, 0.2);
  EXPECT_NEAR(costs.of_fill(0.01), 4.5, 0.2);
}

// It would have come with others, so it spares no wake-up. The fill comes alone.
TEST(ServerCostsTest, AFillThatReplacesOneOfManyReadsIsDear) {
  ServerCosts server;
  server.saw({.commands = 20'000, .writes = 1000, .awaited_fills = 1000});
  server.set_reads_together(1000);
  EXPECT_GT(server.costs().of_fill(0.05), 20);
}

TEST(ServerCostsTest, BeforeAnyFillTheCommandsTellWhetherClientsWillWait) {
  EXPECT_LT(costs_after({.commands = 1000, .writes = 1000}).of_fill(0), 0.1);
  EXPECT_LT(costs_after({.commands = 20'000, .writes = 1000}).fill, 3);
  EXPECT_GT(costs_after({.commands = 20'000, .writes = 1000}).of_fill(0), 20);
}

// Whatever other fills cost.
TEST(ServerCostsTest, FillsOfAHeldKeyComeAlone) {
  ServerCosts alone, many;
  alone.saw({.commands = 1000, .writes = 1000});
  many.saw({.commands = 20'000, .writes = 1000, .gathered_fills = 10'000});
  many.set_reads_together(1000);
  EXPECT_LT(alone.held_costs().of_fill(0), 0.1);
  EXPECT_GT(many.held_costs().of_fill(0.05), 20);
  EXPECT_EQ(many.held_costs().end, many.costs().end);
}

TEST(ServerCostsTest, BeforeAnyTrafficAFillCostsSomething) {
  EXPECT_GT(ServerCosts().costs().of_fill(0), 0);
}

TEST(ServerCostsTest, ALoneReadSparesAWakeUpAndOneOfManyDoesNot) {
  ServerCosts alone, many;
  alone.saw({.commands = 1000, .writes = 1000});
  many.saw({.commands = 20'000, .writes = 1000});
  EXPECT_NEAR(static_cast<double>(alone.spared_cpu().count()), 13'800, 1);
  EXPECT_NEAR(static_cast<double>(many.spared_cpu().count()), 633, 1);
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
