// SPDX-License-Identifier: Apache-2.0
// Drains a worker: stops accepting, and closes its clients as the schedule says (drain.h).
#include <algorithm>

#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kStepInterval = Millis(10);
// Of clients that the kernel has accepted already: closing the listener would reset them.
constexpr int kLastAcceptsMax = 64;

}  // namespace

void Worker::begin_drain(Nanos limit) {
  loop_.post([this, limit] { start_drain(limit); });
}

void Worker::start_drain(Nanos limit) {
  if (drain_) return;
  balancer_ = nullptr;
  leaving_ = {};
  accept_last();
  drain_.emplace(loop_.now(), limit, clients_.size());
  std::size_t rank = 0;
  for (auto& [id, client] : clients_) client->drain_rank = rank++;
  loop_.call_every(kStepInterval, [this] { drain_step(); });
  drain_step();
  shared_.drain.workers_to_begin.fetch_sub(1);
}

void Worker::accept_last() {
  for (const auto& acceptor : acceptors_) {
    for (int i = 0; accepts_ && i < kLastAcceptsMax && accept_clients(acceptor->listener()); ++i) {
    }
    loop_.remove(acceptor->listener().get());
  }
  acceptors_.clear();
}

// Costs about 20 ns per client, a hundred times per second.
void Worker::drain_step() {
  std::array<std::uint64_t, kStays> clients{};
  const bool only_subscribers = shared_.drain.only_subscribers();
  for (auto& [id, client] : clients_) {
    if (!client->session.closed()) drain_client(*client, only_subscribers);
    if (!client->session.closed()) ++clients[static_cast<std::size_t>(client->session.stays())];
  }
  for (std::size_t i = 0; i < kStays; ++i) {
    shared_.drain.clients[i].fetch_add(clients[i] - drained_clients_[i]);
    drained_clients_[i] = clients[i];
  }
}

void Worker::drain_client(Client& client, bool only_subscribers) {
  Session& session = client.session;
  const TimePoint now = loop_.now();
  const Stay stays = session.stays();
  if (stays == Stay::kClosing && now - client.left_at >= Drain::kLinger) return session.close();
  switch (drain_->step(stays, client.drain_rank, only_subscribers, now)) {
    case Drain::Step::kServe:
      return;
    case Drain::Step::kFinish:
      return session.finish();
    case Drain::Step::kClose:
      counters_.add(copies::Count::kClientsDrained);
      shared_.drain.closed.fetch_add(1);
      client.left_at = now;
      return session.leave();
    case Drain::Step::kEndWait:
      return session.end_wait_as_timed_out();
    case Drain::Step::kCut:
      if (stays != Stay::kClosing) {
        counters_.add(copies::Count::kClientsCutByDrain);
        shared_.drain.cut.fetch_add(1);
      }
      return session.close();
  }
}

}  // namespace heatsink::proxy
