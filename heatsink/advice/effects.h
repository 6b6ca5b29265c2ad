// SPDX-License-Identifier: Apache-2.0
// Calculates what each relief does to the server that owns a key. Formulas, without an opinion.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/advice/key_traffic.h"
#include "heatsink/base/clock.h"

namespace heatsink::advice {

struct Effect {
  double key_removed = 0;   // of the server time that the key takes, 0 .. 1; below 0: it costs more
  double node_removed = 0;  // of the requests of its node, 0 .. 1; 0 where they are not known
  Bytes memory{};           // of one holder, or of one node that gets a copy
};

// All are pure and O(1). Accesses are taken to come at random (Poisson) and evenly from all
// holders; real traffic comes in bursts, which leaves a little more to be gained.

// Server time that the key takes now, in microseconds per second.
double server_time(const KeyTraffic& key, const ServerCosts& costs);

// Copies that the server invalidates, each for `lifetime` at most. Of a holder that reads at rate r
// while something ends its copy at rate e = writes + 1 / lifetime, a cycle is the time that a copy
// lives (1 / e) and the time until the next read (1 / r), and has one fill: 1 / (1 / e + 1 / r) a
// second. Of those ends the share writes / e costs a push each.
Effect coherent_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs);

// The same without a server that tells: nothing ends a copy but its age, which is how old a read
// may be, and a fill is a plain read.
Effect aging_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs);

// The key under `copies` names on as many nodes: each serves its part of the reads, and every
// write. Of the node that has most of it. REQUIRES copies >= 1.
Effect split(const KeyTraffic& key, std::uint32_t copies, const ServerCosts& costs);

// Reads spread evenly over the master and `replicas` of it.
Effect replica_reads(const KeyTraffic& key, std::uint32_t replicas, const ServerCosts& costs);

// How many writes a second reach the server of `writes` that come at random, where those that come
// within `window` behind one that was sent are gathered and sent as one. A worker that gets w of
// them sends one after each window in which another came, else with the next write: it sends every
// window + e^(-w window) / w. REQUIRES window > 0, workers >= 1.
double gathered_rate(double writes, Nanos window, std::uint32_t workers);

// The writes that can be gathered (KeyUse::gatherable; all, where that is not known) are.
Effect gathered_writes(const KeyTraffic& key, Nanos window, const ServerCosts& costs);

// Of reads and writes together `rate` a second reach the server, the writes first; other reads get
// the last copy. What reaches it as a read is a fill, of which no more are needed than with
// coherent copies. REQUIRES rate >= writes.
Effect unproven_reads(const KeyTraffic& key, double rate, Nanos lifetime, const ServerCosts& costs);

// What is left for the server of the traffic, by what is in force: hits and gathered writes do not
// reach it.
KeyTraffic left_by(const KeyTraffic& key);

// Of reads and writes alike only `rate` a second pass. The rest gets an error.
Effect limit(const KeyTraffic& key, double rate, const ServerCosts& costs);

}  // namespace heatsink::advice
