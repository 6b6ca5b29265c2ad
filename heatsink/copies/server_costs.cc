// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_costs.h"

#include <algorithm>
#include <cmath>

namespace heatsink::copies {
namespace {

// In plain GETs that arrive together with others. bench/fill_cost.py measures them. Redis 7.0 on
// loopback: a GET 0.56 us, alone 13 to 14 us; a wake-up 19 to 25 GETs, GET and PTTL with tracking
// 2.2 to 2.9, a push 5.5 to 10.7. On a slower machine each GET took four times as long, a wake-up
// 16 GETs and a push 4 to 8.
constexpr double kWakeUp = 22;
constexpr double kFill = 2.6;
constexpr double kPush = 9;
constexpr Nanos kPlainGet{600};

// Before fills have shown it, the commands tell whether clients wait for fills: those that pipeline
// do not. The guess counts as much as so many fills.
constexpr double kGuessedFills = 32;
constexpr double kDecay = 0.8;  // per second

double ratio(double some, double all, double otherwise) { return all < 1 ? otherwise : some / all; }

}  // namespace

ServerWork operator-(const ServerWork& now, const ServerWork& then) {
  return {.commands = now.commands - then.commands,
          .writes = now.writes - then.writes,
          .awaited_fills = now.awaited_fills - then.awaited_fills,
          .gathered_fills = now.gathered_fills - then.gathered_fills};
}

ServerWork& ServerWork::operator+=(const ServerWork& more) {
  commands += more.commands;
  writes += more.writes;
  awaited_fills += more.awaited_fills;
  gathered_fills += more.gathered_fills;
  return *this;
}

void ServerCosts::saw(const ServerWork& work) {
  sums_.commands += static_cast<double>(work.commands);
  sums_.writes += static_cast<double>(work.writes);
  sums_.awaited_fills += static_cast<double>(work.awaited_fills);
  sums_.gathered_fills += static_cast<double>(work.gathered_fills);
}

void ServerCosts::tick() {
  for (double* sum : {&sums_.commands, &sums_.writes, &sums_.awaited_fills, &sums_.gathered_fills})
    *sum *= kDecay;
}

admit::Costs ServerCosts::costs() const {
  const double guess = kGuessedFills / (at_once() * at_once());
  const double awaited =
      (sums_.awaited_fills + guess) / (sums_.awaited_fills + sums_.gathered_fills + kGuessedFills);
  const double gathered = 1 - awaited;
  return {.fill = (awaited * lone_fill() + gathered * kFill) / spared(),
          .end = kPush / spared(),
          .wake_up = gathered * kWakeUp / spared(),
          .reads_together = reads_together_};
}

admit::Costs ServerCosts::held_costs() const {
  return {.fill = lone_fill() / spared(), .end = kPush / spared()};
}

// It wakes the server up, in the place of the read of a client who waits for it.
double ServerCosts::lone_fill() const {
  return std::max(kFill + kWakeUp - (1 + kWakeUp / at_once()), 0.0);
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
