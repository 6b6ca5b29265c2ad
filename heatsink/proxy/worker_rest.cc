// SPDX-License-Identifier: Apache-2.0
// What a worker looks after now and then, and when it need not.
#include <algorithm>

#include "heatsink/proxy/keeper.h"
#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

// About 10 ns per client.
void Worker::measure_memory() {
  memory_at_ = loop_.now();
  std::uint64_t clients = 0;
  std::uint64_t upstream = 0;
  for (const auto& [id, client] : sessions_) clients += client->memory_bytes();
  for (const Lane& lane : lanes_) upstream += lane.upstream ? lane.upstream->memory_bytes() : 0;
  for (const auto& idle : idle_private_) upstream += idle->memory_bytes();
  memory_.clients.store(clients, std::memory_order_relaxed);
  memory_.upstream.store(upstream, std::memory_order_relaxed);
  memory_.detection.store(counter_ ? counter_->memory_bytes() : 0, std::memory_order_relaxed);
}

// Of what a tick looks after.
bool Worker::has_work() const {
  return !quiet_ || !sessions_.empty() ||
         std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
           return lane.upstream && !lane.upstream->owes_nothing();
         });
}

void Worker::rest() {
  timers_.slow_down();
  for (const Lane& lane : lanes_) {
    if (lane.upstream) lane.upstream->shrink();
  }
  for (const auto& idle : idle_private_) idle->shrink();
  measure_memory();
}

// All connections to it are lost, and it cannot be reached.
void Worker::server_left() {
  for (const auto& [id, client] : sessions_) client->server_left();
}

// A client has come.
void Worker::wake() {
  timers_.wake();
  keeper_.client_came();
}

}  // namespace heatsink::proxy
