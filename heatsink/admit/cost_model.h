// SPDX-License-Identifier: Apache-2.0
// Works out what a fill and an end cost, compared with what hits spare, from the shape of the
// traffic and from prices: CPU time of the server and of the proxy. The proxy and `heatsink replay`
// use this same code.
#pragma once

#include "heatsink/admit/costs.h"

namespace heatsink::admit {

// How commands reach a server. To wake up for a request costs a server more than the command
// itself, so what a hit spares it depends on how many commands come at once.
struct TrafficShape {
  double at_once = 1;  // commands of clients that come together; at least 1
  double awaited = 1;  // of the fills: the share that a client waits for, 0 .. 1
  // Wake-ups that each hit spares a server; less than 0: not known, so it is guessed.
  double spared_wake_ups = -1;
  double reads_together = 1;  // reads in the time for which fills are queued
};

// Before fills have shown it, the commands tell who waits: clients that pipeline do not.
TrafficShape guessed_shape(double at_once);

// CPU time of the server, in seconds (bench/fill_cost.py measures them). They are of one machine:
// in front of a server they are taken as many times as its INFO shows (copies/server_cpu.h).
struct ServerPrices {
  double command = 0.6e-6;  // of a client, beside others
  double wake_up = 13e-6;   // to look at a connection on which something has come
  double fill = 1.6e-6;     // the read with its PTTL, beside others
  double push = 5.4e-6;     // telling the proxy that a copy has changed

  ServerPrices at(double scale) const {
    return {command * scale, wake_up * scale, fill * scale, push * scale};
  }
};
// Until it is measured. Servers in front of which it was took 1 to 2.3 times the prices.
inline constexpr double kServerScaleBelieved = 1.7;

// CPU time of the proxy, in seconds. The first three are a worker's, the others the keeper's. What
// they take in fact replaces them (price_scale.h).
struct ProxyPrices {
  double command = 0.1e-6;     // what sending a read on takes a worker beyond a hit, beside others
  double wake_up = 8e-6;       // to send to the server and to read its answer
  double ask_for_fill = 2e-6;  // a worker's part of a fill
  double fill = 6e-6;          // beside others
  double fill_alone = 12e-6;   // besides: to wake up, to send, and to read the answer
  double push = 4e-6;          // to end a copy
  // Not CPU time, but as dear: that a client waits longer for a fill than for the server's own
  // answer. Of the fills, those count that a client waits for.
  double wait = 0;

  ProxyPrices with_keeper_at(double scale) const {
    return {command, wake_up, ask_for_fill, fill * scale, fill_alone * scale, push * scale, wait};
  }
  // The first three.
  ProxyPrices with_worker_at(double scale) const {
    return {command * scale, wake_up * scale, ask_for_fill * scale, fill, fill_alone, push, wait};
  }
  ProxyPrices with_wait_of(double seconds) const {
    return {command, wake_up, ask_for_fill, fill, fill_alone, push, seconds};
  }
};

struct Prices {
  ServerPrices server = {};
  ProxyPrices proxy = {};
  // Seconds of the proxy that one of the server is worth. 1: the fewest seconds of both together.
  double server_weight = 1;

  Prices of_server() const { return {.server = server, .proxy = {0, 0, 0, 0, 0, 0, 0}}; }
};

// Commands that reach the server for a fill, beyond the read that it answers: an awaited one takes
// the place of the client's read, a queued one does not.
inline constexpr double kCommandsPerFill = 2;
double commands_of_fill(const TrafficShape& shape);

// Seconds of CPU that a hit spares the server, and the proxy.
double spared_seconds(const TrafficShape& shape, const ServerPrices& prices);
double spared_seconds(const TrafficShape& shape, const ProxyPrices& prices);
// Seconds of the keeper's CPU for a fill, of which so many come together (Costs::together()).
double keeper_seconds(const TrafficShape& shape, const ProxyPrices& prices, double together);
// Where a key earns its copies. A fill costs at least commands_of_fill() spared reads: prices are
// estimates, and copies that send a server more commands than they spare it help nobody.
Costs costs_of(const TrafficShape& shape, const Prices& prices);
// Where copies of a key are held: clients wait for each fill, and it comes alone.
Costs held_costs_of(const TrafficShape& shape, const Prices& prices);

}  // namespace heatsink::admit
