// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/cost_model.h"

#include <algorithm>

namespace heatsink::admit {
namespace {

// It wakes the server up, in the place of the read of a client who waits for it.
double lone_fill(const TrafficShape& shape, const ServerPrices& prices) {
  return std::max(prices.fill + prices.wake_up - (prices.command + prices.wake_up / shape.at_once),
                  0.0);
}

}  // namespace

TrafficShape guessed_shape(double at_once) {
  const double commands = std::max(at_once, 1.0);
  return {.at_once = commands, .awaited = 1 / (commands * commands)};
}

double commands_of_fill(const TrafficShape& shape) {
  return shape.awaited * (kCommandsPerFill - 1) + (1 - shape.awaited) * kCommandsPerFill;
}

// A hit spares the server a wake-up only if it answers all that would have come at once.
double spared_seconds(const TrafficShape& shape, const ServerPrices& prices) {
  return prices.command + prices.wake_up / (shape.at_once * shape.at_once);
}

Costs costs_of(const TrafficShape& shape, const ServerPrices& prices) {
  const double spared = spared_seconds(shape, prices);
  const double gathered = 1 - shape.awaited;
  const double fill = shape.awaited * lone_fill(shape, prices) + gathered * prices.fill;
  return {.fill = fill / spared,
          .end = prices.push / spared,
          .wake_up = gathered * prices.wake_up / spared,
          .reads_together = shape.reads_together,
          .fill_min = commands_of_fill(shape)};
}

Costs held_costs_of(const TrafficShape& shape, const ServerPrices& prices) {
  const double spared = spared_seconds(shape, prices);
  return {.fill = std::max(lone_fill(shape, prices) / spared, kCommandsPerFill - 1),
          .end = prices.push / spared};
}

}  // namespace heatsink::admit
