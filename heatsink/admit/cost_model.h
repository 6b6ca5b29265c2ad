// SPDX-License-Identifier: Apache-2.0
// Works out what a fill and an end cost, compared with the reads that hits spare, from the shape of
// the traffic and from prices. The proxy and `heatsink replay` use this same code.
#pragma once

#include "heatsink/admit/costs.h"

namespace heatsink::admit {

// How commands reach a server. To wake up for a request costs a server more than the command
// itself, so what a hit spares it depends on how many commands come at once.
struct TrafficShape {
  double at_once = 1;         // commands of clients that come together; at least 1
  double awaited = 1;         // of the fills: the share that a client waits for, 0 .. 1
  double reads_together = 1;  // reads in the time for which fills are gathered
};

// Before fills have shown it, the commands tell who waits: clients that pipeline do not.
TrafficShape guessed_shape(double at_once);

// CPU time of the server, in seconds.
struct ServerPrices {
  double command = 0.6e-6;  // of a client, beside others
  double wake_up = 13e-6;   // to look at a connection on which something has come
  double fill = 1.6e-6;     // the read with its PTTL, beside others
  double push = 5.4e-6;     // telling the proxy that a copy has changed
};

// Commands that reach the server for a fill, beyond the read that it answers: an awaited one takes
// the place of the client's read, a gathered one does not.
inline constexpr double kCommandsPerFill = 2;
double commands_of_fill(const TrafficShape& shape);

// Seconds of the server's CPU that a hit spares.
double spared_seconds(const TrafficShape& shape, const ServerPrices& prices);
// Where a key earns its copies. A fill costs at least commands_of_fill() spared reads: prices are
// estimates, and copies that send a server more commands than they spare it help nobody.
Costs costs_of(const TrafficShape& shape, const ServerPrices& prices);
// Where copies of a key are held: clients wait for each fill, and it comes alone.
Costs held_costs_of(const TrafficShape& shape, const ServerPrices& prices);

}  // namespace heatsink::admit
