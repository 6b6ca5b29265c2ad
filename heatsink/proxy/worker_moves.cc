// SPDX-License-Identifier: Apache-2.0
// Moves clients between workers: measures the load, hands clients over, and takes them in.
#include <algorithm>
#include <utility>

#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kMoveTime = Millis(100);  // clients that are not ready by then stay

}  // namespace

void Worker::report_load(TimePoint now) {
  const Nanos cpu = loop_.cpu_time();
  const std::optional<Measured> before = std::exchange(measured_, Measured{now, cpu});
  if (!before || now <= before->at) return;
  WorkerBalance::Load load;
  load.busy = std::min(1.0, std::chrono::duration<double>(cpu - before->cpu) /
                                std::chrono::duration<double>(now - before->at));
  for (const auto& [id, client] : clients_)
    if (client->connection.take_active()) ++load.clients;
  balancer_->report(index_, load, now);
}

// A std::function holds only copyable values, hence the shared pointer.
void Worker::take_client(std::uint64_t id, net::Stream stream, const std::string& peer) {
  const auto taken = std::make_shared<net::Stream>(std::move(stream));
  loop_.post([this, id, taken, peer] { open_session(id, std::move(*taken), peer); });
}

void Worker::take_moved(MovedClient client) {
  const auto taken = std::make_shared<MovedClient>(std::move(client));
  loop_.post([this, taken] { adopt(std::move(*taken)); });
}

void Worker::give_clients(std::size_t count, BalancedWorker& to) {
  loop_.post([this, count, &to] { begin_to_move(count, to); });
}

void Worker::begin_to_move(std::size_t count, BalancedWorker& to) {
  if (giving_.to != nullptr) return;
  leaving_ = {{}, &to, loop_.now() + kMoveTime};
  for (const auto& [id, client] : clients_) {
    if (leaving_.clients.size() >= count) break;
    if (count == kAllClients || client->connection.take_active()) leaving_.clients.push_back(id);
  }
  move_clients();
}

// Moves the clients that are ready; tries the others at the end of each turn, for a while.
void Worker::move_clients() {
  const auto try_to_move = [this](std::uint64_t id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return true;
    Client& client = *found->second;
    if (!client.session.may_move()) return false;
    MovedClient moved{client.connection.release_stream(), client.session.move_out()};
    clients_.erase(found);
    counters_.add(copies::Count::kClientsMoved);
    leaving_.to->take_moved(std::move(moved));
    return true;
  };
  std::erase_if(leaving_.clients, try_to_move);
  if (leaving_.clients.empty() || loop_.now() >= leaving_.until) leaving_ = {};
}

void Worker::adopt(MovedClient moved) {
  const std::uint64_t id = moved.session.id = free_client_id(moved.session.id);
  const TimePoint ran_script_at = moved.session.state.ran_script_at_;
  start(id, std::make_unique<Client>(*this, std::move(moved)));
  // The client's old worker may not have noticed yet that the server was lost.
  if (ran_script_at < server_left_at_) {
    if (Session* const came = session(id)) came->server_left();
  }
}

}  // namespace heatsink::proxy
