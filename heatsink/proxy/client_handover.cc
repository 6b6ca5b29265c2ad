// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_handover.h"

#include <utility>
#include <vector>

namespace heatsink::proxy {

void ClientHandover::begin(Send send, std::uint32_t version) {
  send_ = std::move(send);
  layout_ = CarriedSession::layout_for(version);
  refusals_.clear();
  timer_ = loop_.call_every(kGiveInterval, [this] { step(); });
  step();
}

void ClientHandover::step() {
  std::uint64_t to_give = 0;
  std::vector<std::uint64_t> given;
  bool is_full = false;
  for (const auto& [id, client] : clients_.all()) {
    // TLS cannot be continued: its keys are in this process.
    if (client->session.closed() || !client->connection.is_plain()) continue;
    const Gift gift = is_full ? Gift::kLater : give(id, *client);
    if (gift == Gift::kGiven) given.push_back(id);
    if (gift == Gift::kLater || gift == Gift::kFull) ++to_give;
    is_full = is_full || gift == Gift::kFull || given.size() >= kPerStepMax;
  }
  for (const std::uint64_t id : given) clients_.forget(id);
  to_give_ = to_give + unconfirmed_.size();
}

// kGiven: nothing forbids another attempt.
ClientHandover::Gift ClientHandover::after_refusals(std::uint64_t id) const {
  const auto found = refusals_.find(id);
  if (found == refusals_.end()) return Gift::kGiven;
  if (found->second.count >= kRefusalsMax) return Gift::kKept;
  return loop_.now() - found->second.at < kAfterRefusal ? Gift::kLater : Gift::kGiven;
}

// The descriptors are sent first: if that fails, the client is as it was.
ClientHandover::Gift ClientHandover::give(std::uint64_t id, ServedClients::Client& client) {
  using Sent = handover::Channel::Sent;
  Session& session = client.session;
  if (const Gift gift = after_refusals(id); gift != Gift::kGiven) return gift;
  if (!session.may_hand_over(layout_)) {
    session.hold_input(session.settles_when_held(layout_));
    if (session.stays_behind(layout_)) return Gift::kKept;
    session.end_near_names();  // so that it can be given when it has been told
    return Gift::kLater;
  }
  CarriedClient carried;
  carried.session = session.carry();
  const std::uint64_t token = (std::uint64_t{worker_} << kTokenShift) | ++tokens_;
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
  unconfirmed_.emplace(token, std::move(carried));
  return Gift::kGiven;
}

handover::Channel::Sent ClientHandover::send_gift(std::uint64_t token,
                                                  const CarriedSession& session,
                                                  const ServedClients::Client& client) const {
  std::vector<int> descriptors{client.connection.fd()};
  for (const int each : client.session.descriptors()) descriptors.push_back(each);
  const handover::Client plain{token, session.private_connection.has_value(),
                               encode(session, layout_)};
  if (session.nodes == 0) return send_(plain, descriptors);
  return send_(handover::ClientWithNodes{plain, session.nodes}, descriptors);
}

// Closing our descriptors does not end the connections, which the other process has now.
void ClientHandover::taken(std::uint64_t token) {
  if (unconfirmed_.erase(token) == 0) return;
  to_give_.fetch_sub(1);
  counters_.add(copies::Count::kClientsHandedOver);
}

// While clients are given, the next step gives it once more, after a pause.
void ClientHandover::refused(std::uint64_t token) {
  auto refused = unconfirmed_.extract(token);
  if (refused.empty()) return;
  Refusals& before = refusals_[refused.mapped().session.id];
  ++before.count;
  before.at = loop_.now();
  if (!is_on()) to_give_.fetch_sub(1);
  go_on_with(std::move(refused.mapped()));
}

void ClientHandover::end(bool takes_back) {
  loop_.cancel(std::exchange(timer_, 0));
  send_ = nullptr;
  for (const auto& [id, client] : clients_.all()) client->session.hold_input(false);
  if (takes_back) {
    for (auto& [token, client] : std::exchange(unconfirmed_, {})) go_on_with(std::move(client));
  }
  to_give_ = unconfirmed_.size();
}

// A client that cannot go on here either is closed.
void ClientHandover::go_on_with(CarriedClient client) {
  clients_.take_over(std::move(client), [] {});
}

}  // namespace heatsink::proxy
