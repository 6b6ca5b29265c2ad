// SPDX-License-Identifier: Apache-2.0
// Measures the shape of the traffic to the server, by which admit::costs_of() prices copies.
#pragma once

#include <cstdint>

#include "heatsink/admit/admit.h"
#include "heatsink/copies/batch_sizes.h"

namespace heatsink::copies {

// What a server had to do for a worker, and what the worker did itself.
struct ServerWork {
  std::uint64_t commands = 0;      // of clients
  std::uint64_t client_reads = 0;  // system calls of the workers that read from clients
  std::uint64_t writes = 0;        // system calls of the workers that sent them
  std::uint64_t turns = 0;         // of the workers that made such calls
  // For keys that are not held.
  std::uint64_t awaited_fills = 0;  // instead of the command of a client, who waits
  std::uint64_t queued_fills = 0;   // besides the client's own command; sent together
  std::uint64_t earned_hits = 0;    // what such copies spared it
  std::uint64_t hits = 0;           // of all copies
  Nanos cpu{0};                     // of the worker's thread; 0: not measured
  // Of all keys: reads that waited for a fill and then had it, and how long; commands that the
  // server has answered, and how long that took.
  std::uint64_t waits = 0, asks = 0;
  Nanos waited{0}, asked{0};
  BatchSizes batches{};  // by turn: commands of clients, whether copies answered them or not

  friend ServerWork operator-(const ServerWork& now, const ServerWork& then);
  ServerWork& operator+=(const ServerWork& more);
};

// The shape decides which keys get copies, and copies change the traffic. So it has to be steady:
// it is the mean of about half a minute, and only a change that lasts for kSureTicks and is clearly
// beyond the noise replaces it at once. One thread.
class TrafficMeter {
 public:
  static constexpr int kSureTicks = 3;

  // Before any work: believes this shape as if some traffic had shown it.
  void believe(double at_once, double awaited);
  void saw(const ServerWork& work);
  // Call it about once per second: older work counts less.
  void tick();
  // `hits`: the share of the reads that copies are expected to answer. It counts where they answer
  // fewer now: what many hits would spare is worth filling the copies for.
  admit::TrafficShape shape(double hits = 0) const { return shape_of(steady_, hits); }
  // The shape of the last few seconds: shows how far the figures wander.
  admit::TrafficShape recent(double hits = 0) const { return shape_of(recent_, hits); }
  // How much longer a read waits for a fill than for the server's own answer, in the mean of about
  // half a minute; 0: not longer, or not known yet.
  Nanos wait() const;

 private:
  // Sums in which older work counts less.
  struct Sums {
    double commands = 0, writes = 0, turns = 0, hits = 0, awaited_fills = 0, queued_fills = 0;
    double waits = 0, asks = 0, waited_ns = 0, asked_ns = 0;
    BatchSizes batches{};
    void decay(double kept);
    void add(const ServerWork& work);
  };
  static admit::TrafficShape shape_of(const Sums& sums, double hits);
  bool has_moved() const;

  Sums recent_, steady_;
  int moved_for_ = 0;  // ticks
};

}  // namespace heatsink::copies
