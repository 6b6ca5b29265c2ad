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
// The other process may not have found the client's server yet. It has about five seconds.
constexpr Nanos kAfterRefusal = Millis(50);
constexpr unsigned kRefusalsMax = 100;

}  // namespace

void Worker::set_accepting(bool wanted, std::function<void()> done) {
  loop_.post([this, wanted, done = std::move(done)] {
    accepts_ = wanted;
    watch_listeners(wanted ? net::Interest::kRead : net::Interest::kNone);
    done();
  });
}

void Worker::hand_over(const handover::Channel& to, std::uint32_t version) {
  to_give_ = 1;  // until the first step has counted
  loop_.post([this, &to, version] {
    leaving_ = {};
    giving_.to = &to;
    giving_.version = std::min(version, CarriedSession::kLayout);
    giving_.refusals.clear();
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
    const Gift gift = is_full ? Gift::kLater : give(id, *client);
    if (gift == Gift::kGiven) given.push_back(id);
    if (gift == Gift::kLater || gift == Gift::kFull) ++to_give;
    is_full = is_full || gift == Gift::kFull || given.size() >= kPerStepMax;
  }
  for (const std::uint64_t id : given) {
    clients_.erase(id);
    shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  }
  to_give_ = to_give + giving_.unconfirmed.size();
}

// kGiven: nothing forbids another attempt.
Worker::Gift Worker::after_refusals(std::uint64_t id) const {
  const auto found = giving_.refusals.find(id);
  if (found == giving_.refusals.end()) return Gift::kGiven;
  if (found->second.count >= kRefusalsMax) return Gift::kKept;
  return loop_.now() - found->second.at < kAfterRefusal ? Gift::kLater : Gift::kGiven;
}

// The descriptors are sent first: if that fails, the client is as it was.
Worker::Gift Worker::give(std::uint64_t id, Client& client) {
  using Sent = handover::Channel::Sent;
  Session& session = client.session;
  if (const Gift gift = after_refusals(id); gift != Gift::kGiven) return gift;
  if (!session.may_hand_over(giving_.version)) {
    session.hold_input(session.settles_when_held(giving_.version));
    return session.stays_behind(giving_.version) ? Gift::kKept : Gift::kLater;
  }
  CarriedClient carried;
  carried.session = session.carry();
  const std::uint64_t token = (std::uint64_t{index_} << kTokenShift) | ++giving_.tokens;
  const Sent sent = send_gift(token, carried.session, client);
  if (sent != Sent::kSent) {
    session.keep(std::move(carried.session));
    if (sent == Sent::kTooBig) {
      session.hold_input(false);
      return Gift::kKept;
    }
    return sent == Sent::kFull ? Gift::kFull : Gift::kLater;
  }
  carried.client = client.connection.release_stream();
  session.hand_over(carried);
  giving_.unconfirmed.emplace(token, std::move(carried));
  return Gift::kGiven;
}

handover::Channel::Sent Worker::send_gift(std::uint64_t token, const CarriedSession& session,
                                          const Client& client) const {
  std::vector<int> descriptors{client.connection.fd()};
  for (const int each : client.session.descriptors()) descriptors.push_back(each);
  const handover::Client plain{token, session.private_connection.has_value(),
                               encode(session, giving_.version)};
  if (session.nodes == 0) return giving_.to->send(plain, descriptors);
  return giving_.to->send(handover::ClientWithNodes{plain, session.nodes}, descriptors);
}

// Closing our descriptors does not end the connections, which the other process has now.
void Worker::taken(std::uint64_t token) {
  loop_.post([this, token] {
    if (giving_.unconfirmed.erase(token) == 0) return;
    to_give_.fetch_sub(1);
    counters_.add(copies::Count::kClientsHandedOver);
  });
}

// While clients are given, the next step gives it once more, after a pause.
void Worker::refused(std::uint64_t token) {
  loop_.post([this, token] {
    auto refused = giving_.unconfirmed.extract(token);
    if (refused.empty()) return;
    Giving::Refusals& before = giving_.refusals[refused.mapped().session.id];
    ++before.count;
    before.at = loop_.now();
    if (giving_.to == nullptr) to_give_.fetch_sub(1);
    adopt_now(std::move(refused.mapped()), [] {});
  });
}

void Worker::end_hand_over(bool takes_back) {
  loop_.post([this, takes_back] {
    loop_.cancel(std::exchange(giving_.timer, 0));
    giving_.to = nullptr;
    for (auto& [id, client] : clients_) client->session.hold_input(false);
    if (takes_back) {
      for (auto& [token, client] : std::exchange(giving_.unconfirmed, {}))
        adopt_now(std::move(client), [] {});
    }
    to_give_ = giving_.unconfirmed.size();
  });
}

// A std::function holds only copyable values, hence the shared pointer.
void Worker::adopt(CarriedClient came, std::function<void(bool)> answer) {
  const auto taken = std::make_shared<CarriedClient>(std::move(came));
  loop_.post([this, taken, answer = std::move(answer)] {
    const auto confirm = [&] {
      counters_.add(copies::Count::kClientsTakenOver);
      answer(true);
    };
    if (!adopt_now(std::move(*taken), confirm)) answer(false);
  });
}

bool Worker::adopt_now(CarriedClient came, const std::function<void()>& confirm) {
  if (came.session.login && !users_.has_room_for(*came.session.login)) return false;
  note_work();
  // No copy that was requested before now may be older than what the client has seen elsewhere.
  shared_.fences.raise_all(loop_.clock());
  const std::uint64_t id = came.session.id = free_client_id(came.session.id);
  const std::string peer = net::peer_text(came.client.fd());
  auto client = std::make_unique<Client>(*this, came, peer);
  Client& started = *client;
  if (!started.connection.start(started.session).ok() || !started.session.take_connections(came)) {
    CarriedClient dropped;  // closes its connections without a word to the client and to servers
    started.session.hand_over(dropped);
    return false;
  }
  clients_.emplace(id, std::move(client));
  shared_.clients.fetch_add(1);
  confirm();
  started.session.go_on_carried(came.session);
  return true;
}

}  // namespace heatsink::proxy
