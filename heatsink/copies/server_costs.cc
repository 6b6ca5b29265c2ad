// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_costs.h"

#include <algorithm>
#include <cmath>

namespace heatsink::copies {
namespace {

// In plain GETs that arrive together with others. bench/fill_cost.py measures them; Redis 7.0 on
// loopback: a GET 2.2 us, alone 41 us; GET and PTTL with tracking 4.0 us; a push alone 18 us.
constexpr double kWakeUp = 16;
constexpr double kFill = 1.75;
constexpr double kPush = 8;
constexpr Nanos kPlainGet{2'200};

// As many fills come at once before any has been seen.
constexpr double kFillsAtOnce = 32;
constexpr double kDecay = 0.8;  // per second

double ratio(double some, double all, double otherwise) { return all < 1 ? otherwise : some / all; }

}  // namespace

ServerWork operator-(const ServerWork& now, const ServerWork& then) {
  return {.commands = now.commands - then.commands,
          .writes = now.writes - then.writes,
          .awaited_fills = now.awaited_fills - then.awaited_fills,
          .gathered_fills = now.gathered_fills - then.gathered_fills,
          .fill_writes = now.fill_writes - then.fill_writes};
}

void ServerCosts::saw(const ServerWork& work) {
  sums_.commands += static_cast<double>(work.commands);
  sums_.writes += static_cast<double>(work.writes);
  sums_.awaited_fills += static_cast<double>(work.awaited_fills);
  sums_.gathered_fills += static_cast<double>(work.gathered_fills);
  sums_.fill_writes += static_cast<double>(work.fill_writes);
}

void ServerCosts::tick() {
  for (double* sum : {&sums_.commands, &sums_.writes, &sums_.awaited_fills, &sums_.gathered_fills,
                      &sums_.fill_writes})
    *sum *= kDecay;
}

admit::Costs ServerCosts::costs() const {
  const double fills = sums_.awaited_fills + sums_.gathered_fills;
  const double fills_at_once = std::max(ratio(fills, sums_.fill_writes, kFillsAtOnce), 1.0);
  const double awaited = ratio(sums_.awaited_fills, fills, 0);
  const double fill = kFill + kWakeUp / fills_at_once;
  const double replaced = 1 + kWakeUp / at_once();  // the read of a client who waits for the fill
  admit::Costs costs{.fill = std::max(fill - awaited * replaced, 0.0) / spared(),
                     .end = kPush / spared()};
  costs.reads_to_pay = admit::reads_to_pay(costs.fill, costs.end);
  return costs;
}

double ServerCosts::at_once() const {
  return std::max(ratio(sums_.commands, sums_.writes, 1), 1.0);
}

// A hit spares the server a wake-up only if it answers all that would have come at once.
double ServerCosts::spared() const { return 1 + kWakeUp / (at_once() * at_once()); }

Nanos ServerCosts::spared_cpu() const {
  return Nanos(std::llround(spared() * static_cast<double>(kPlainGet.count())));
}

}  // namespace heatsink::copies
