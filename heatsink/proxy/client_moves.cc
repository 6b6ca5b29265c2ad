// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_moves.h"

#include <algorithm>
#include <utility>

namespace heatsink::proxy {

void ClientMoves::report_load(TimePoint now) {
  if (balancer_ == nullptr) return;
  const Nanos cpu = loop_.cpu_time();
  const std::optional<Measured> before = std::exchange(measured_, Measured{now, cpu});
  if (!before || now <= before->at) return;
  WorkerBalance::Load load;
  load.busy = std::min(1.0, std::chrono::duration<double>(cpu - before->cpu) /
                                std::chrono::duration<double>(now - before->at));
  for (const auto& [id, client] : clients_.all())
    if (client->connection.take_active()) ++load.clients;
  balancer_->report(worker_, load, now);
}

void ClientMoves::begin(std::size_t count, BalancedWorker& to) {
  leaving_ = {{}, &to, loop_.now() + kMoveTime};
  for (const auto& [id, client] : clients_.all()) {
    if (leaving_.clients.size() >= count) break;
    if (count == BalancedWorker::kAllClients || client->connection.take_active())
      leaving_.clients.push_back(id);
  }
  move_ready();
}

void ClientMoves::move_ready() {
  std::erase_if(leaving_.clients, [this](std::uint64_t id) { return try_to_move(id); });
  if (leaving_.clients.empty() || loop_.now() >= leaving_.until) stop();
}

// True: the client is gone from here.
bool ClientMoves::try_to_move(std::uint64_t id) {
  Session* const session = clients_.session(id);
  if (session == nullptr) return true;
  if (!session->may_move()) {
    session->end_near_names();  // so that it can move when it has been told
    return false;
  }
  MovedClient moved = clients_.move_out(id);
  counters_.add(copies::Count::kClientsMoved);
  leaving_.to->take_moved(std::move(moved));
  return true;
}

void ClientMoves::take_in(MovedClient moved) {
  const TimePoint ran_script_at = moved.session.state.ran_script_at_;
  Session& came = clients_.take_in(std::move(moved));
  // The client's old worker may not have noticed yet that the server was lost.
  if (ran_script_at < server_left_at_) came.server_left();
}

}  // namespace heatsink::proxy
