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

// A hit spares a wake-up only if hits answer all that would have come at once.
double spared_wake_ups(const TrafficShape& shape) {
  return shape.spared_wake_ups >= 0 ? shape.spared_wake_ups : 1 / (shape.at_once * shape.at_once);
}

// A hit may take a worker longer than to send the read on. Costs are multiples of what a hit spares
// in all, so that has to be more than nothing.
double spared_by_hit(const TrafficShape& shape, const Prices& prices) {
  constexpr double kLeast = 0.05e-6;
  return std::max(prices.server_weight * spared_seconds(shape, prices.server) +
                      spared_seconds(shape, prices.proxy),
                  kLeast);
}

double push(const Prices& prices) {
  return prices.server_weight * prices.server.push + prices.proxy.push;
}

}  // namespace

TrafficShape guessed_shape(double at_once) {
  const double commands = std::max(at_once, 1.0);
  return {.at_once = commands, .awaited = 1 / (commands * commands)};
}

double commands_of_fill(const TrafficShape& shape) {
  return shape.awaited * (kCommandsPerFill - 1) + (1 - shape.awaited) * kCommandsPerFill;
}

double spared_seconds(const TrafficShape& shape, const ServerPrices& prices) {
  return prices.command + prices.wake_up * spared_wake_ups(shape);
}

double spared_seconds(const TrafficShape& shape, const ProxyPrices& prices) {
  return prices.command + prices.wake_up * spared_wake_ups(shape);
}

double keeper_seconds(const TrafficShape& shape, const ProxyPrices& prices, double together) {
  return prices.fill + (shape.awaited + (1 - shape.awaited) / together) * prices.fill_alone;
}

Costs costs_of(const TrafficShape& shape, const Prices& prices) {
  const double spared = spared_by_hit(shape, prices);
  const double queued = 1 - shape.awaited;
  const double at_server =
      shape.awaited * lone_fill(shape, prices.server) + queued * prices.server.fill;
  const double here = prices.proxy.ask_for_fill + prices.proxy.fill +
                      shape.awaited * (prices.proxy.fill_alone + prices.proxy.wait);
  const double wake_up = prices.server_weight * prices.server.wake_up + prices.proxy.fill_alone;
  return {.fill = (prices.server_weight * at_server + here) / spared,
          .end = push(prices) / spared,
          .wake_up = queued * wake_up / spared,
          .reads_together = shape.reads_together,
          .fill_min = commands_of_fill(shape)};
}

Costs held_costs_of(const TrafficShape& shape, const Prices& prices) {
  const double spared = spared_by_hit(shape, prices);
  const double here =
      prices.proxy.ask_for_fill + prices.proxy.fill + prices.proxy.fill_alone + prices.proxy.wait;
  const double fill = prices.server_weight * lone_fill(shape, prices.server) + here;
  return {.fill = std::max(fill / spared, kCommandsPerFill - 1), .end = push(prices) / spared};
}

}  // namespace heatsink::admit
