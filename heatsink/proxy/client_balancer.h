// SPDX-License-Identifier: Apache-2.0
// Keeps the clients of a proxy with as few workers as can serve them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/proxy/worker_balance.h"

namespace heatsink::proxy {

class Worker;

// Measures the machine, asks WorkerBalance, and has the workers move their clients. The workers
// outlive it, and call it from their threads. Cost: while a worker is busy, or several are used, a
// read of /proc/stat at each tick of the first worker (50 us with 2 CPUs, more with many).
class ClientBalancer {
 public:
  explicit ClientBalancer(std::vector<Worker*> workers);
  ClientBalancer(const ClientBalancer&) = delete;

  // The worker that new clients go to. Any thread.
  Worker& home() const { return *workers_[balance_.home()]; }

  // What the worker has measured since its last tick; its thread. The first one's report is also
  // when clients are moved.
  void report(std::size_t worker, const WorkerBalance::Load& load, TimePoint now);

 private:
  struct Reported {
    std::atomic<double> busy{0};
    std::atomic<std::size_t> clients{0};
  };
  struct IdleTime {
    TimePoint at;
    double seconds;
  };

  void look(TimePoint now);
  std::optional<double> idle_cpus(const std::vector<WorkerBalance::Load>& loads, TimePoint now);

  const std::vector<Worker*> workers_;
  const std::unique_ptr<Reported[]> reported_;
  // Of the first worker's thread:
  WorkerBalance balance_;
  std::optional<IdleTime> idle_time_;
};

}  // namespace heatsink::proxy
