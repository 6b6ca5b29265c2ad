// SPDX-License-Identifier: Apache-2.0
// Calculates the effect of each relief on the server that owns a key: formulas without a judgement.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/advice/key_traffic.h"
#include "heatsink/base/clock.h"

namespace heatsink::advice {

struct Effect {
  double key_removed = 0;   // part of the server time for the key, 0 .. 1; below 0: it costs more
  double node_removed = 0;  // part of its node's requests, 0 .. 1; 0 if they are unknown
  Bytes memory{};           // of one holder, or of one node that gets a copy
};

// All are pure and O(1). Accesses are assumed to be random (Poisson) and evenly spread over the
// holders; real traffic comes in bursts, which makes the gain slightly larger.

// Server time that the key takes now, in microseconds per second.
double server_time(const KeyTraffic& key, const ServerCosts& costs);

// Copies that the server invalidates, with `lifetime` at most. A holder reads at rate r, and its
// copy ends at rate e = writes + 1 / lifetime. A cycle is the life of a copy (1 / e) and the time
// until the next read (1 / r), with one fill: 1 / (1 / e + 1 / r) per second. The share writes / e
// of the ends costs a push each.
Effect coherent_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs);

// The same without invalidations: only its age ends a copy, so that is how stale a read may be. A
// fill is a plain read.
Effect aging_copies(const KeyTraffic& key, Nanos lifetime, const ServerCosts& costs);

// Spreads the key over `copies` names on as many nodes: each serves its part of the reads, and
// every write. The effect on the busiest of these nodes. REQUIRES copies >= 1.
Effect split(const KeyTraffic& key, std::uint32_t copies, const ServerCosts& costs);

// Reads spread evenly over the master and `replicas` replicas.
Effect replica_reads(const KeyTraffic& key, std::uint32_t replicas, const ServerCosts& costs);

// The rate of writes that reach the server when `writes` random writes per second are gathered:
// writes within `window` after a sent one are combined and sent as one. A worker with w of them
// sends one after each window in which another came, else with the next write: one per window +
// e^(-w window) / w. REQUIRES window > 0, workers >= 1.
double gathered_rate(double writes, Nanos window, std::uint32_t workers);

// Gathers the writes that can be gathered (KeyUse::gatherable; all if that is unknown).
Effect gathered_writes(const KeyTraffic& key, Nanos window, const ServerCosts& costs);

// `rate` requests per second reach the server, writes first; other reads get the last copy. Reads
// that reach it are fills, of which no more are needed than with coherent copies. REQUIRES rate >=
// writes.
Effect unproven_reads(const KeyTraffic& key, double rate, Nanos lifetime, const ServerCosts& costs);

// The traffic that still reaches the server: hits and gathered writes do not.
KeyTraffic left_by(const KeyTraffic& key);

// Lets `rate` requests per second pass, reads and writes alike; the others get an error.
Effect limit(const KeyTraffic& key, double rate, const ServerCosts& costs);

}  // namespace heatsink::advice
