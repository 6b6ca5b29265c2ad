// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/cost_model.h"

#include <gtest/gtest.h>

namespace heatsink::admit {
namespace {

const Prices kPrices = Prices{}.of_server();

// Its price is small, but it is one command more than the read.
TEST(CostModelTest, AFillThatReplacesALoneReadCostsACommand) {
  const Costs costs = costs_of({.at_once = 1, .awaited = 1}, kPrices);
  EXPECT_DOUBLE_EQ(costs.of_fill(0), 1);
  EXPECT_LT(costs.end, 0.6);
}

// However small the prices: PTTL and the read come besides the client's own read.
TEST(CostModelTest, AGatheredFillCostsTwoCommands) {
  const Costs costs = costs_of({.at_once = 1, .awaited = 0, .reads_together = 1e6}, kPrices);
  EXPECT_DOUBLE_EQ(costs.of_fill(1), 2);
}

// Clients that pipeline: a hit spares one command of many, and a fill wakes the server up.
TEST(CostModelTest, AFillOfItsOwnIsDearBesideManyCommandsAtOnce) {
  const Costs costs = costs_of({.at_once = 20, .awaited = 0}, kPrices);
  EXPECT_GT(costs.of_fill(0), 20);
  EXPECT_GT(costs.end, 5);
}

// Of 1000 reads, 5 % need a fill: 50, but no more than 32 are sent at once.
TEST(CostModelTest, FillsAtOnceShareAWakeUp) {
  const Costs costs = costs_of({.at_once = 20, .awaited = 0, .reads_together = 1000}, kPrices);
  EXPECT_NEAR(costs.of_fill(0.05), 3.1, 0.2);
  EXPECT_NEAR(costs.of_fill(0.01), 4.5, 0.2);
}

// It would have come with others, so it spares no wake-up. The fill comes alone.
TEST(CostModelTest, AFillThatReplacesOneOfManyReadsIsDear) {
  const TrafficShape shape{.at_once = 20, .awaited = 1, .reads_together = 1000};
  EXPECT_GT(costs_of(shape, kPrices).of_fill(0.05), 20);
}

TEST(CostModelTest, FillsOfAHeldKeyComeAlone) {
  const TrafficShape many{.at_once = 20, .awaited = 0, .reads_together = 1000};
  EXPECT_DOUBLE_EQ(held_costs_of({}, kPrices).of_fill(0), 1);
  EXPECT_GT(held_costs_of(many, kPrices).of_fill(0.05), 20);
  EXPECT_EQ(held_costs_of(many, kPrices).end, costs_of(many, kPrices).end);
}

TEST(CostModelTest, ALoneReadSparesAWakeUpAndOneOfManyDoesNot) {
  EXPECT_NEAR(spared_seconds({.at_once = 1}, kPrices.server), 13.6e-6, 0.1e-6);
  EXPECT_NEAR(spared_seconds({.at_once = 20}, kPrices.server), 0.63e-6, 0.01e-6);
}

// Where clients bunch, the mean hides the turns with few commands.
TEST(CostModelTest, WakeUpsThatHitsAreSeenToSpareCount) {
  const TrafficShape even{.at_once = 10, .awaited = 0, .reads_together = 1000};
  TrafficShape bunched = even;
  bunched.spared_wake_ups = 0.1;
  EXPECT_NEAR(spared_seconds(bunched, kPrices.server), 1.9e-6, 0.01e-6);
  EXPECT_NEAR(spared_seconds(bunched, ProxyPrices{}), 0.9e-6, 0.01e-6);
  EXPECT_LT(costs_of(bunched, {}).of_fill(0.05), 0.4 * costs_of(even, {}).of_fill(0.05));
}

// 2 + 6 + 12 us here and 1 us more of the server, for 21.7 us of both.
TEST(CostModelTest, TheProxysTimeCounts) {
  const Costs costs = costs_of({.at_once = 1, .awaited = 1}, {});
  EXPECT_NEAR(costs.fill, 21.0 / 21.7, 0.01);
  const TrafficShape many{.at_once = 20, .awaited = 0, .reads_together = 1e6};
  const double both = costs_of(many, {}).of_fill(1);
  EXPECT_GT(both, 3 * costs_of(many, kPrices).of_fill(1));
  EXPECT_GT(held_costs_of(many, {}).fill, held_costs_of(many, kPrices).fill);
}

TEST(CostModelTest, AServerOfMoreWorthIsSparedMore) {
  const TrafficShape many{.at_once = 20, .awaited = 0, .reads_together = 1e6};
  const double even = costs_of(many, {}).of_fill(1);
  const double dear = costs_of(many, {.server_weight = 4}).of_fill(1);
  const double very_dear = costs_of(many, {.server_weight = 1e6}).of_fill(1);
  EXPECT_LT(dear, even / 1.5);
  EXPECT_NEAR(very_dear, costs_of(many, kPrices).of_fill(1), 0.01);
}

TEST(CostModelTest, ASlowKeeperMakesFillsDear) {
  const TrafficShape many{.at_once = 20, .awaited = 0.5};
  const ProxyPrices slow = ProxyPrices{}.with_keeper_at(3);
  EXPECT_DOUBLE_EQ(keeper_seconds(many, slow, 4), 3 * keeper_seconds(many, {}, 4));
  EXPECT_GT(costs_of(many, {.proxy = slow}).of_fill(0.1), costs_of(many, {}).of_fill(0.1));
  EXPECT_GT(costs_of(many, {.proxy = slow}).end, costs_of(many, {}).end);
}

// A lone fill: 21 us of both CPUs, for 21.7 us; and 10 us more for the client that waits.
TEST(CostModelTest, TheWaitOfAClientForItsFillCounts) {
  const Prices waits{.proxy = ProxyPrices{}.with_wait_of(10e-6)};
  EXPECT_NEAR(costs_of({.at_once = 1, .awaited = 1}, waits).fill, 31.0 / 21.7, 0.01);
  EXPECT_NEAR(held_costs_of({}, waits).fill, 31.0 / 21.7, 0.01);
  const TrafficShape nobody_waits{.at_once = 20, .awaited = 0};
  EXPECT_DOUBLE_EQ(costs_of(nobody_waits, waits).fill, costs_of(nobody_waits, {}).fill);
  EXPECT_DOUBLE_EQ(waits.proxy.with_keeper_at(3).with_worker_at(2).wait, 10e-6);
}

// Twice as slow a server is spared twice as much, and the proxy takes what it took.
TEST(CostModelTest, ASlowServerIsWorthMoreFills) {
  const TrafficShape many{.at_once = 20, .awaited = 0, .reads_together = 1e6};
  const Prices slow{.server = ServerPrices{}.at(2)};
  EXPECT_DOUBLE_EQ(spared_seconds(many, slow.server), 2 * spared_seconds(many, ServerPrices{}));
  EXPECT_LT(costs_of(many, slow).of_fill(1), costs_of(many, {}).of_fill(1));
  EXPECT_DOUBLE_EQ(costs_of(many, slow).of_fill(1),
                   costs_of(many, {.server_weight = 2}).of_fill(1));
}

// A hit takes the worker longer than to send the read on, by as much as it spares the server or
// more. Then no copy pays for a fill, and the costs are numbers all the same.
TEST(CostModelTest, AHitMayTakeTheProxyLonger) {
  const TrafficShape many{.at_once = 20, .awaited = 0};
  const Prices dear{.proxy = ProxyPrices{}.with_worker_at(-2)};
  EXPECT_LT(spared_seconds(many, dear.proxy), 0);
  EXPECT_GT(costs_of(many, dear).of_fill(1), costs_of(many, {}).of_fill(1));
  const Prices dearest{.proxy = ProxyPrices{}.with_worker_at(-100)};
  const Costs costs = costs_of(many, dearest);
  EXPECT_EQ(reads_to_pay(costs.of_fill(1), costs.end), Costs::kReadsToPayMax);
  EXPECT_LT(costs.fill, 1e4);
  EXPECT_EQ(saved_when_held(1000, 0, held_costs_of(many, dearest)), 1) << "no write ends it";
}

TEST(CostModelTest, ClientsThatPipelineAreGuessedNotToWait) {
  EXPECT_DOUBLE_EQ(guessed_shape(1).awaited, 1);
  EXPECT_LT(guessed_shape(20).awaited, 0.01);
  EXPECT_DOUBLE_EQ(guessed_shape(0).at_once, 1) << "before any traffic";
}

}  // namespace
}  // namespace heatsink::admit
