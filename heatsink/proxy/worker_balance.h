// SPDX-License-Identifier: Apache-2.0
// Decides which worker serves which clients: it fills one worker before it uses the next one.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Few busy threads cost less CPU than many mostly idle ones, because a thread with many clients
// reads and sends more in each turn (docs/decisions/0030). So clients stay together until their
// worker's thread has used up its CPU, and return when one thread is enough.
//
// No I/O: measurements and time are arguments. Not thread-safe, except home().
class WorkerBalance {
 public:
  // The load of one worker since the last look.
  struct Load {
    double busy = 0;          // CPU time of its thread / time; 0 .. 1
    std::size_t clients = 0;  // clients that have sent something
  };
  // `clients`: how many of the clients that have sent something; kAll: all clients.
  struct Move {
    std::size_t from, to, clients;
  };
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  explicit WorkerBalance(std::size_t workers) : busy_(workers, 0) {}

  // Returns what to do now, at most one move at a time. `idle_cpus`: CPUs of the machine that were
  // idle since the last look, 0 to all. REQUIRES one load for each worker.
  std::optional<Move> look(TimePoint now, std::span<const Load> loads, double idle_cpus);

  // The worker for new clients. Thread-safe.
  std::size_t home() const { return home_.load(std::memory_order_relaxed); }

 private:
  struct Spread {
    std::size_t from = 0;
    double busy_before = 0;
  };

  void choose_home();
  std::optional<Move> spread(TimePoint now, std::span<const Load> loads, double idle_cpus);
  std::optional<Move> merge(TimePoint now, std::span<const Load> loads, double idle_cpus);
  void judge_last_spread();

  std::vector<double> busy_;  // smoothed over a few looks
  std::atomic<std::size_t> home_{0};
  TimePoint move_shown_at_{};  // measurements show the last move from then on
  std::optional<TimePoint> full_since_, mergeable_since_;
  std::optional<Spread> last_spread_;
  Nanos spread_pause_{0};  // grows while spreading does not help
  TimePoint spread_again_at_{};
};

}  // namespace heatsink::proxy
