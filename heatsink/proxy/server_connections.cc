// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/server_connections.h"

#include <utility>

#include "heatsink/upstream/make_upstreams.h"

namespace heatsink::proxy {

ServerConnections::ServerConnections(ServersState& shared, net::EventLoop& loop,
                                     copies::Counters& counters, Upstreams::Host& host,
                                     Upstream::Host& replies, std::uint64_t random)
    : counters_(counters),
      own_(make_upstreams(shared, loop, counters, host, replies, random)),
      users_(shared, loop, counters, host, replies, random),
      replicas_(shared, loop, counters, *own_, replies, random) {}

void ServerConnections::begin() { own_->shared(resp::Protocol::kResp2, Destination::any()); }

void ServerConnections::server_moved() {
  own_->server_moved();
  users_.server_moved();
}

void ServerConnections::map_changed() {
  own_->map_changed();
  users_.map_changed();
}

void ServerConnections::check_timeouts(TimePoint now) {
  own_->check_timeouts(now);
  users_.check_timeouts(now);
  replicas_.check_timeouts(now);
}

void ServerConnections::flush() {
  replicas_.before_flush();
  counters_.add(copies::Count::kUpstreamWrites, dirty_.size());
  for (Upstream* connection : std::exchange(dirty_, {})) {
    counters_.add(copies::Count::kServerCommands, connection->take_commands());
    connection->flush_dirty();
  }
}

void ServerConnections::wake_ready() {
  own_->wake_ready();
  users_.wake_ready();
}

void ServerConnections::end_turn() {
  own_->end_turn();
  users_.end_turn();
  replicas_.end_turn();
}

bool ServerConnections::owes_nothing() const {
  return own_->owes_nothing() && users_.owes_nothing() && replicas_.owes_nothing();
}

void ServerConnections::shrink() {
  own_->shrink();
  users_.shrink();
  replicas_.shrink();
}

std::uint64_t ServerConnections::memory_bytes() const {
  return own_->memory_bytes() + users_.memory_bytes() + replicas_.memory_bytes();
}

}  // namespace heatsink::proxy
