// SPDX-License-Identifier: Apache-2.0
// Decides which worker serves which clients: one worker is filled before the next one is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Few busy threads cost less than many that are seldom busy: a thread with many clients reads and
// sends more at each turn (docs/decisions/0030). So clients stay together until their worker's
// thread has used up its CPU, and come together again when one thread is enough.
//
// No I/O: what was measured and the time are arguments. Not thread-safe, but for home().
class WorkerBalance {
 public:
  // Of one worker, since the last look.
  struct Load {
    double busy = 0;          // CPU time of its thread / time; 0 .. 1
    std::size_t clients = 0;  // that have sent something
  };
  // `clients`: how many of those that have sent something, or kAll, also of the others.
  struct Move {
    std::size_t from, to, clients;
  };
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  explicit WorkerBalance(std::size_t workers) : busy_(workers, 0) {}

  // REQUIRES one load for each worker. `idle_cpus`: CPUs of the machine that nothing has used since
  // the last look, 0 .. all. Returns what to do, at most one move at a time.
  std::optional<Move> look(TimePoint now, std::span<const Load> loads, double idle_cpus);

  // The worker that new clients go to. Any thread.
  std::size_t home() const { return home_.load(std::memory_order_relaxed); }

 private:
  struct Spread {
    std::size_t from = 0;
    double busy_before = 0;
  };

  void choose_home();
  std::optional<Move> spread(TimePoint now, std::span<const Load> loads, double idle_cpus);
  std::optional<Move> gather(TimePoint now, std::span<const Load> loads, double idle_cpus);
  void judge_last_spread();

  std::vector<double> busy_;  // smoothed over a few looks
  std::atomic<std::size_t> home_{0};
  TimePoint settled_at_{};  // the last move shows in what is measured from then on
  std::optional<TimePoint> full_since_, gatherable_since_;
  std::optional<Spread> last_spread_;
  Nanos spread_pause_{0};  // grows while spreading does not help
  TimePoint spread_again_at_{};
};

}  // namespace heatsink::proxy
