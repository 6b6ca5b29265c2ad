// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/session_carrier.h"

#include <utility>

namespace heatsink::proxy {

std::uint32_t SessionCarrier::layout_needed() const {
  if (of_.state.near_mode_.is_on) return 4;
  if (of_.subscriptions != nullptr && of_.subscriptions->names().hears_hot) return 3;
  const ServerSide& servers = of_.servers;
  const bool needs_login = servers.user() != nullptr &&
                           (servers.user()->credentials.given() || servers.own() != nullptr);
  const bool needs_second = (of_.state.in_multi_ && of_.transaction->needs_second_layout()) ||
                            has_listeners() || needs_login;
  return needs_second ? 2 : CarriedSession::kOldestLayout;
}

bool SessionCarrier::stays_behind(std::uint32_t layout) const {
  // TLS cannot be continued: its keys are in this process.
  Upstream* const own = of_.servers.own();
  const bool is_tls = own != nullptr && own->ready() && !own->is_plain();
  // Only the reply to EXEC tells what these commands have done.
  const bool awaits_exec = of_.state.in_multi_ && needs_exec_reply();
  const bool subscriptions_stay = of_.subscriptions != nullptr && !of_.subscriptions->can_move();
  return layout < layout_needed() || subscriptions_stay ||
         (is_tls && (of_.servers.has_state() || is_blocked())) || awaits_exec || is_too_long();
}

bool SessionCarrier::is_too_long() const {
  constexpr std::size_t kMax = CarriedSession::kNameMax;
  const ClientState& state = of_.state;
  return state.name_.size() > kMax || state.user_name_.size() > kMax ||
         state.library_name_.size() + state.library_version_.size() > kMax ||
         (of_.transaction != nullptr && of_.transaction->is_too_long_to_carry()) ||
         (is_blocked() && of_.blocked->wait().request().empty());
}

bool SessionCarrier::needs_exec_reply() const {
  return (of_.transaction != nullptr && of_.transaction->needs_exec_reply()) ||
         (of_.subscriptions != nullptr && of_.subscriptions->has_queued());
}

bool SessionCarrier::may_carry(std::uint32_t layout) const {
  if (stays_behind(layout)) return false;
  const bool is_settled = (of_.subscriptions == nullptr || of_.subscriptions->is_settled()) &&
                          of_.state.login_asked_ == nullptr &&
                          (of_.blocked == nullptr || !of_.blocked->asks_nodes()) &&
                          !needs_exec_reply();
  const bool fits =
      of_.input.bytes().size() <= CarriedSession::kInputMax && !of_.input.oversized().is_active();
  const Upstream* const own = of_.servers.own();
  const bool is_users = own == nullptr || own->user() == of_.servers.user().get();
  return is_settled && fits && is_users && (own != nullptr || !needs_private());
}

// What the client has on a server, it has on its private connection.
bool SessionCarrier::needs_private() const {
  const ClientState& state = of_.state;
  // A client that has not logged in needs no login elsewhere either.
  const bool needs_login = of_.servers.is_bound() && state.user_name_ != "default";
  const bool is_in_transaction = state.in_multi_ && of_.transaction->is_on_server();
  const bool is_in_stream = of_.is_raw || of_.input.oversized().is_active();
  const bool hears = of_.subscriptions != nullptr && of_.subscriptions->needs_connection();
  return needs_login || state.pinned_ || is_in_transaction || state.watching_ || is_in_stream ||
         hears;
}

CarriedSession SessionCarrier::carry(std::uint64_t id, ClientState&& state) const {
  CarriedSession out;
  out.id = id;
  out.has_written = !state.written_.all().empty();
  out.state = std::move(state);
  out.input = of_.input.bytes();
  out.is_raw = of_.is_raw;
  out.ran_script = out.state.ran_script_at_ != TimePoint{};
  out.private_connection = of_.servers.carried();
  if (is_blocked()) out.waiting = of_.blocked->carried();
  if (of_.subscriptions != nullptr) {
    out.subscriptions = of_.subscriptions->names();
    out.listens = has_listeners();
    out.nodes = static_cast<std::uint32_t>(of_.subscriptions->descriptors().size());
  }
  if (of_.servers.user() != nullptr) out.login = of_.servers.user()->credentials;
  if (of_.transaction != nullptr) out.transaction = of_.transaction->carried();
  return out;
}

std::vector<int> SessionCarrier::descriptors() const {
  std::vector<int> out;
  if (of_.servers.own() != nullptr) out.push_back(of_.servers.own()->fd());
  if (of_.subscriptions == nullptr) return out;
  const std::vector<int> nodes = of_.subscriptions->descriptors();
  out.insert(out.end(), nodes.begin(), nodes.end());
  return out;
}

}  // namespace heatsink::proxy
