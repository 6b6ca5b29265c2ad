// SPDX-License-Identifier: Apache-2.0
// Works out what fills and invalidations cost the server, compared with the reads that hits spare
// it.
#pragma once

#include <cstdint>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"

namespace heatsink::copies {

// What a server had to do for its proxy.
struct ServerWork {
  std::uint64_t commands = 0;  // of clients
  std::uint64_t writes = 0;    // system calls of the workers that sent them
  // For keys that are not held.
  std::uint64_t awaited_fills = 0;   // instead of the command of a client, who waits
  std::uint64_t gathered_fills = 0;  // besides the client's own command; sent together

  friend ServerWork operator-(const ServerWork& now, const ServerWork& then);
  ServerWork& operator+=(const ServerWork& more);
};

// To wake up for a request costs a server many times the command itself. So what a hit spares it,
// and what a fill costs it, depends on how many commands come at once. One thread.
class ServerCosts {
 public:
  void saw(const ServerWork& work);
  // Call it about once per second: older work counts less.
  void tick();
  // Fills that no client waits for are sent together: those of so many reads. 1 at first.
  void set_reads_together(double reads) { reads_together_ = reads; }
  // Where a key earns its copies (reads_to_pay is not set).
  admit::Costs costs() const;
  // Where copies of a key are held: clients wait for each fill, and it comes alone.
  admit::Costs held_costs() const;
  // The server's CPU time that a hit spares it, as measured on one machine (bench/fill_cost.py).
  Nanos spared_cpu() const;

 private:
  // Sums in which older work counts less.
  struct Sums {
    double commands = 0, writes = 0, awaited_fills = 0, gathered_fills = 0;
  };
  double at_once() const;  // commands of clients that come together
  double spared() const;
  double lone_fill() const;

  Sums sums_;
  double reads_together_ = 1;
};

}  // namespace heatsink::copies
