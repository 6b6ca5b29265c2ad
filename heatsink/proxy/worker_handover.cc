// SPDX-License-Identifier: Apache-2.0
// Gives a worker's clients to another process, and takes in those of another process
// (docs/design/handover.md).
#include <algorithm>
#include <utility>

#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kGiveInterval = Millis(2);
constexpr std::size_t kPerStepMax = 256;  // clients that are not ready go on being served

}  // namespace

void Worker::set_accepting(bool wanted, std::function<void()> done) {
  loop_.post([this, wanted, done = std::move(done)] {
    accepts_ = wanted;
    watch_listeners(wanted ? net::Interest::kRead : net::Interest::kNone);
    done();
  });
}

void Worker::hand_over(const handover::Channel& to) {
  to_give_ = 1;  // until the first step has counted
  loop_.post([this, &to] {
    leaving_ = {};
    giving_.to = &to;
    giving_.timer = loop_.call_every(kGiveInterval, [this] { give_clients(); });
    give_clients();
  });
}

void Worker::give_clients() {
  std::uint64_t to_give = 0;
  std::vector<std::uint64_t> given;
  bool is_full = false;
  for (auto& [id, client] : clients_) {
    // TLS cannot be continued: its keys are in this process.
    if (client->session.closed() || !client->connection.is_plain()) continue;
    const Gift gift = is_full ? Gift::kLater : give(*client);
    if (gift == Gift::kGiven) given.push_back(id);
    if (gift != Gift::kGiven) ++to_give;
    is_full = is_full || gift == Gift::kFull || given.size() >= kPerStepMax;
  }
  for (const std::uint64_t id : given) {
    clients_.erase(id);
    shared_.clients.fetch_sub(1, std::memory_order_relaxed);
    counters_.add(copies::Count::kClientsHandedOver);
  }
  to_give_ = to_give + giving_.unconfirmed.size();
}

// The descriptors are sent first: if that fails, the client is as it was.
Worker::Gift Worker::give(Client& client) {
  Session& session = client.session;
  if (!session.may_hand_over()) {
    session.hold_input(session.settles_when_held());
    return Gift::kLater;
  }
  CarriedSession carried = session.carry();
  const std::uint64_t token = (std::uint64_t{index_} << kTokenShift) | ++giving_.tokens;
  const std::array<int, 2> descriptors{client.connection.fd(), session.private_fd()};
  const bool has_private = carried.private_connection.has_value();
  const handover::Channel::Sent sent =
      giving_.to->send(handover::Client{token, has_private, encode(carried)},
                       std::span(descriptors).first(has_private ? 2 : 1));
  if (sent != handover::Channel::Sent::kSent) {
    session.keep(std::move(carried));
    return sent == handover::Channel::Sent::kFull ? Gift::kFull : Gift::kLater;
  }
  net::Stream stream = client.connection.release_stream();
  giving_.unconfirmed.emplace(
      token, CarriedClient{std::move(carried), std::move(stream), session.hand_over()});
  return Gift::kGiven;
}

// Closing our descriptors does not end the connections, which the other process has now.
void Worker::taken(std::uint64_t token) {
  loop_.post([this, token] {
    if (giving_.unconfirmed.erase(token) > 0) to_give_.fetch_sub(1);
  });
}

void Worker::end_hand_over(bool takes_back) {
  loop_.post([this, takes_back] {
    loop_.cancel(std::exchange(giving_.timer, 0));
    giving_.to = nullptr;
    for (auto& [id, client] : clients_) client->session.hold_input(false);
    if (takes_back) {
      for (auto& [token, client] : std::exchange(giving_.unconfirmed, {}))
        adopt_now(std::move(client));
    }
    to_give_ = giving_.unconfirmed.size();
  });
}

// A std::function holds only copyable values, hence the shared pointer.
void Worker::adopt(CarriedClient came) {
  const auto taken = std::make_shared<CarriedClient>(std::move(came));
  loop_.post([this, taken] {
    counters_.add(copies::Count::kClientsTakenOver);
    adopt_now(std::move(*taken));
  });
}

void Worker::adopt_now(CarriedClient came) {
  note_work();
  shared_.clients.fetch_add(1);
  // No copy that was requested before now may be older than what the client has seen elsewhere.
  shared_.fences.raise_all(loop_.clock());
  const std::uint64_t id = came.session.id = free_client_id(came.session.id);
  const std::string peer = net::peer_text(came.client.fd());
  auto client = std::make_unique<Client>(*this, came, peer);
  Client& started = *client;
  clients_.emplace(id, std::move(client));
  const bool goes_on =
      started.connection.start(started.session).ok() &&
      started.session.go_on_carried(came.session, std::move(came.private_connection));
  if (!goes_on) started.session.close();
}

}  // namespace heatsink::proxy
