// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_drain.h"

#include <cstddef>

namespace heatsink::proxy {

void ClientDrain::begin(Nanos limit) {
  drain_.emplace(loop_.now(), limit, clients_.all().size());
  std::size_t rank = 0;
  for (const auto& [id, client] : clients_.all()) client->drain_rank = rank++;
  timer_ = loop_.call_every(kStepInterval, [this] { step(); });
  step();
  shared_.drain.workers_to_begin.fetch_sub(1);
}

void ClientDrain::step() {
  std::array<std::uint64_t, kStays> stays{};
  const bool only_subscribers = shared_.drain.only_subscribers();
  for (const auto& [id, client] : clients_.all()) {
    if (!client->session.closed()) step_of(*client, only_subscribers);
    if (!client->session.closed()) ++stays[static_cast<std::size_t>(client->session.stays())];
  }
  for (std::size_t i = 0; i < kStays; ++i) {
    shared_.drain.clients[i].fetch_add(stays[i] - counted_[i]);
    counted_[i] = stays[i];
  }
}

void ClientDrain::step_of(ServedClients::Client& client, bool only_subscribers) {
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
