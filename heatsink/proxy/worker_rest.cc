// SPDX-License-Identifier: Apache-2.0
// Runs a worker's periodic measurements, and lets it rest while no client works.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr std::chrono::duration<double> kRoundTime(1.0);
// A worker stays awake for this long after its clients' last request.
constexpr Nanos kAwakeFor = std::chrono::seconds(3);
// A client in clients_, in the loop's table and in the allocator.
constexpr std::uint64_t kClientBytes = 10 * sizeof(void*);

}  // namespace

// Frees what idle clients need no more, and measures what all of them need. Costs about 0.1 us per
// client and round, so each tick visits only its part of them.
void Worker::tend_clients(TimePoint now) {
  const double share = std::chrono::duration<double>(now - round_.visited_at) / kRoundTime;
  round_.visited_at = now;
  const std::size_t buckets = clients_.bucket_count();
  const auto part = static_cast<std::size_t>(std::min(share, 1.0) * static_cast<double>(buckets));
  const std::size_t end = std::min(buckets, round_.bucket + part + 1);
  for (; round_.bucket < end; ++round_.bucket) {
    for (auto each = clients_.begin(round_.bucket); each != clients_.end(round_.bucket); ++each) {
      Client& client = *each->second;
      client.session.shrink();
      round_.clients_bytes +=
          kClientBytes + sizeof(client.connection) + client.session.memory_bytes();
    }
  }
  if (end == buckets) note_memory();
}

// The end of a round.
void Worker::note_memory() {
  upstreams_->shrink();
  users_.shrink();
  replicas_.shrink();
  const std::uint64_t clients = std::exchange(round_.clients_bytes, 0);
  const std::uint64_t upstream =
      upstreams_->memory_bytes() + users_.memory_bytes() + replicas_.memory_bytes();
  round_.bucket = 0;
  const std::uint64_t before = memory_.clients.exchange(clients, std::memory_order_relaxed) +
                               memory_.upstream.exchange(upstream, std::memory_order_relaxed);
  shared_.buffers_bytes.fetch_add(static_cast<std::int64_t>(clients + upstream) -
                                  static_cast<std::int64_t>(before));
}

// Changes with the configuration only.
void Worker::note_detection_memory() {
  memory_.detection.store(counter_ ? counter_->memory_bytes() : 0);
}

// True if the next tick has anything to do.
bool Worker::has_work() const {
  return !quiet_ || loop_.now() - worked_at_ < kAwakeFor || !slow_.empty() ||
         !upstreams_->owes_nothing() || !users_.owes_nothing() || !replicas_.owes_nothing() ||
         shared_.memory.is_tight();
}

// Once per slow period all clients are visited, so an idle client's buffers go, too.
void Worker::rest() {
  if (timers_.slow()) return;
  timers_.slow_down();
  shared_.workers_awake.fetch_sub(1);
}

// The timers' callbacks may close clients, so they wait for the end of the turn. No copy is served
// before the keeper has renewed its proof, because there is none.
void Worker::wake() {
  wake_due_ = true;
  shared_.workers_awake.fetch_add(1);
  keeper_.worker_woke();
}

}  // namespace heatsink::proxy
