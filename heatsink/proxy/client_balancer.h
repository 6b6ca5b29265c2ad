// SPDX-License-Identifier: Apache-2.0
// Moves clients between workers, so that as few workers as possible serve them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/worker_balance.h"
#include "heatsink/session/moved_client.h"

namespace heatsink::proxy {

// A worker as the balancer and other workers see it. Thread-safe; each call returns at once, and
// the worker acts on it in one of its own turns.
class BalancedWorker {
 public:
  static constexpr std::size_t kAllClients = WorkerBalance::kAll;

  // Serves a client that another worker accepted. `peer`: its address, for logs.
  virtual void take_client(std::uint64_t id, net::Stream stream, const std::string& peer) = 0;
  virtual void take_moved(MovedClient client) = 0;
  // Hands clients over to another worker: `count` of those that sent something recently, or
  // kAllClients. Each client moves once nothing of it is in flight or waits; clients that do not
  // get there soon stay. `to` outlives this worker's thread.
  virtual void give_clients(std::size_t count, BalancedWorker& to) = 0;

 protected:
  ~BalancedWorker() = default;
};

// Measures the machine, asks WorkerBalance, and makes the workers move clients. The workers outlive
// it and call it from their threads. Cost: while a worker is busy, or several have clients, the
// first worker reads /proc/stat at each tick (50 us with 2 CPUs, more with many).
class ClientBalancer {
 public:
  explicit ClientBalancer(std::vector<BalancedWorker*> workers);
  ClientBalancer(const ClientBalancer&) = delete;

  // The worker that new clients go to. Any thread.
  BalancedWorker& home() const { return *workers_[balance_.home()]; }

  // Takes the worker's load since its last tick, on that worker's thread. The first worker's report
  // also decides whether clients move.
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

  const std::vector<BalancedWorker*> workers_;
  const std::unique_ptr<Reported[]> reported_;
  // Used by the first worker's thread only:
  WorkerBalance balance_;
  std::optional<IdleTime> idle_time_;
};

}  // namespace heatsink::proxy
