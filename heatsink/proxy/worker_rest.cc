// SPDX-License-Identifier: Apache-2.0
// Runs a worker's periodic measurements, and lets it rest without clients.
#include <algorithm>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

// Costs about 10 ns per client.
void Worker::measure_memory() {
  memory_at_ = loop_.now();
  std::uint64_t clients = 0;
  for (const auto& [id, client] : clients_)
    clients += sizeof(client->connection) + client->session.memory_bytes();
  memory_.clients.store(clients, std::memory_order_relaxed);
  memory_.upstream.store(upstreams_->memory_bytes(), std::memory_order_relaxed);
  memory_.detection.store(counter_ ? counter_->memory_bytes() : 0, std::memory_order_relaxed);
}

// True if the next tick has anything to do.
bool Worker::has_work() const {
  return !quiet_ || !clients_.empty() || !upstreams_->owes_nothing();
}

void Worker::rest() {
  timers_.slow_down();
  upstreams_->shrink();
  measure_memory();
}

// Called for each new client.
void Worker::wake() {
  timers_.wake();
  keeper_.client_came();
}

}  // namespace heatsink::proxy
