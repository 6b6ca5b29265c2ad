// SPDX-License-Identifier: Apache-2.0
// Gives a session to another worker or another process, and continues one of another process
// (docs/design/handover.md).
#include <utility>

#include "heatsink/session/carried_client.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

// Sets `request`, which `parser` and `wire` outlive. False: it is no whole request, or of no
// command of this server.
bool read_carried(resp::RequestParser& parser, std::string_view wire, const SessionParts& parts,
                  std::optional<Request>& request) {
  if (parser.parse(wire) != resp::ParseStatus::kRequest || parser.size() != wire.size() ||
      parser.args().empty())
    return false;
  request.emplace(parser.args(), wire);
  request->now = parts.loop.clock();
  request->command = parts.commands.find(request->args());
  if (request->command == nullptr || !request->has_right_arity()) return false;
  request->facts = &parts.commands.facts(*request->command);
  request->route = request->facts->route;
  return true;
}

}  // namespace

// ---- to another worker

// Clients in MULTI or with subscriptions stay: their state is on a private connection, or will be.
bool Session::may_move() const {
  const bool goes_on = life_ == Life::kServes && presence_ == Presence::kHere;
  const bool at_rest = in_flight() == 0 && has_no_blocked_command() && traffic_.holds == 0 &&
                       input_.waits_for_nothing() && !resume_due_;
  const bool has_nothing =
      input_.waiting() == nullptr && !repeats() && input_.bytes().empty() && output_.is_at_rest();
  const bool is_plain = own() == nullptr && mode_ == Mode::kNormal && servers_.user() == nullptr &&
                        (transaction_ == nullptr || transaction_->is_at_rest()) &&
                        (subscriptions_ == nullptr || subscriptions_->is_at_rest()) &&
                        (near_ == nullptr || near_->is_at_rest());
  return goes_on && at_rest && has_nothing && is_plain;
}

MovedSession Session::move_out() {
  life_ = Life::kMovedOut;
  output_.close();
  memory_.note(0);
  reliefs_.close();
  return {id_, address_, std::move(static_cast<ClientState&>(*this)), traffic_.fence(),
          replies_ahead_};
}

// ---- to and from another process

// Continues the session. Nothing is processed before go_on_carried().
Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 CarriedSession& before, std::string_view peer)
    : ClientState(std::move(before.state)),
      parts_(parts),
      host_(host),
      id_(before.id),
      client_(client),
      address_(parts.shared.client_names.enter(peer, parts.loop.now())),
      memory_(parts.shared.memory),
      servers_(parts, *this, traffic_, *this),
      input_(*this),
      output_(parts, client, servers_, traffic_, *this),
      reliefs_(parts, context()) {
  identity().become(user_, user_name_.empty() ? "default" : std::string(user_name_));
  const bool is_known = before.login || (is_bound() && !before.private_connection);
  if (is_known && parts.shared.cluster.is_expected())
    identity().use_servers_of(before.login.value_or(redis::Credentials()));
  if (before.subscriptions.any() || before.subscriptions.receives_messages ||
      before.subscriptions.hears_hot)
    subscriptions().take(before.subscriptions);
  if (before.has_written) note_all_written();
  // What the client has seen in the other process counts as seen now.
  traffic_.note_reply_at(parts.loop.clock());
  if (before.ran_script) ran_script_at_ = parts.loop.clock();
  if (before.is_raw) mode_ = Mode::kRaw;
  if (in_multi_ || watching_) transaction().take_over(before.transaction);
  if (in_multi_) traffic_.touch_all();
}

// WAIT asks all nodes, because the other process has not said which ones the client has written to.
void Session::note_all_written() {
  const std::vector<redis::UpstreamAddress*> masters = servers_.upstreams().all_masters();
  for (redis::UpstreamAddress* const each : masters) written_.note(*each);
  if (masters.empty()) written_.note(parts_.shared.upstream_address);
}

bool Session::may_hand_over(std::uint32_t layout) const {
  const bool goes_on =
      life_ == Life::kServes && presence_ == Presence::kHere && drain_ == Drain::kNone;
  const bool gives_nothing_back =
      blocked_ == nullptr || !(blocked_->is_putting_back() || is_offering());
  const bool is_quiet = gives_nothing_back && traffic_.holds == 0 && output_.is_all_sent() &&
                        !resume_due_ && input_.waiting() == nullptr && !repeats() &&
                        (!input_.is_throttled() || input_.is_held());
  const bool at_rest = is_blocked() ? may_carry_wait()
                                    : in_flight() == 0 && input_.awaited() == Awaited::kNothing &&
                                          !output_.owes_replies();
  return goes_on && is_quiet && at_rest && may_carry_state(layout) &&
         (subscriptions_ == nullptr || subscriptions_->may_release()) &&
         (near_ == nullptr || near_->is_at_rest()) &&
         (own() == nullptr || own()->may_release(is_blocked() ? 1 : 0));
}

// The command waits on the server: the reply to its mark has come, and the next one is its own.
bool Session::may_carry_wait() const {
  return own() != nullptr && in_flight() == 1 && input_.awaited() == Awaited::kAnswer &&
         blocked_->wait().may_be_carried() && !output_.keeps_bytes();
}

bool Session::stays_behind(std::uint32_t layout) const {
  const bool needs_login =
      servers_.user() != nullptr && (servers_.user()->credentials.given() || own() != nullptr);
  const bool needs_second =
      (in_multi_ && transaction_->needs_second_layout()) || has_listeners() || needs_login;
  // TLS cannot be continued: its keys are in this process.
  const bool is_tls = own() != nullptr && own()->ready() && !own()->is_plain();
  // Only the reply to EXEC tells what these commands have done.
  const bool awaits_exec = in_multi_ && needs_exec_reply();
  const bool subscriptions_stay = subscriptions_ != nullptr && !subscriptions_->can_move();
  const bool needs_third = subscriptions_ != nullptr && subscriptions_->names().hears_hot;
  return (layout < 2 && needs_second) || (layout < 3 && needs_third) ||
         (layout < 4 && near_mode_.is_on) || subscriptions_stay ||
         (is_tls && (has_state() || is_blocked())) || awaits_exec || is_too_long_to_carry();
}

bool Session::is_too_long_to_carry() const {
  using Carried = CarriedSession;
  return name_.size() > Carried::kNameMax || user_name_.size() > Carried::kNameMax ||
         library_name_.size() + library_version_.size() > Carried::kNameMax ||
         (transaction_ != nullptr && transaction_->is_too_long_to_carry()) ||
         (is_blocked() && blocked_->wait().request().empty());
}

bool Session::may_carry_state(std::uint32_t layout) const {
  if (stays_behind(layout)) return false;
  const bool is_settled = (subscriptions_ == nullptr || subscriptions_->is_settled()) &&
                          login_asked_ == nullptr &&
                          (blocked_ == nullptr || !blocked_->asks_nodes()) && !needs_exec_reply();
  const bool fits =
      input_.bytes().size() <= CarriedSession::kInputMax && !input_.oversized().is_active();
  const bool is_users = own() == nullptr || own()->user() == servers_.user().get();
  return is_settled && fits && is_users && (own() != nullptr || !needs_private());
}

// What the client has on a server, it has on its private connection.
bool Session::needs_private() const {
  // A client that has not logged in needs no login elsewhere either.
  const bool needs_login = is_bound() && user_name_ != "default";
  const bool is_in_transaction = in_multi_ && transaction_->is_on_server();
  const bool hears = subscriptions_ != nullptr && subscriptions_->needs_connection();
  return needs_login || pinned_ || is_in_transaction || watching_ || in_stream() || hears;
}

CarriedSession Session::carry() {
  CarriedSession out;
  out.id = id_;
  out.has_written = !written_.all().empty();
  out.state = std::move(static_cast<ClientState&>(*this));
  out.input = input_.bytes();
  out.is_raw = mode_ == Mode::kRaw;
  out.ran_script = out.state.ran_script_at_ != TimePoint{};
  if (Upstream* const own = servers_.own(); own != nullptr) {
    out.private_connection = {own->protocol(), own->login() == Upstream::Login::kOwn,
                              !own->hello_reply().empty(), own->db()};
  }
  if (is_blocked()) {
    const Wait& wait = blocked_->wait();
    out.waiting = {wait.request(), wait.connection(), own()->is_next_silent()};
  }
  if (subscriptions_ != nullptr) {
    out.subscriptions = subscriptions_->names();
    out.listens = has_listeners();
    out.nodes = static_cast<std::uint32_t>(subscriptions_->descriptors().size());
  }
  if (servers_.user() != nullptr) out.login = servers_.user()->credentials;
  if (transaction_ != nullptr) out.transaction = transaction_->carried();
  return out;
}

std::vector<int> Session::descriptors() const {
  std::vector<int> out;
  if (own() != nullptr) out.push_back(own()->fd());
  if (subscriptions_ == nullptr) return out;
  const std::vector<int> nodes = subscriptions_->descriptors();
  out.insert(out.end(), nodes.begin(), nodes.end());
  return out;
}

void Session::hand_over(CarriedClient& to) {
  life_ = Life::kClosed;
  if (blocked_ != nullptr) blocked_->close();
  output_.close();
  input_.release();
  memory_.note(0);
  reliefs_.close();
  if (subscriptions_ != nullptr) to.nodes = subscriptions_->release();
  if (own() != nullptr) to.private_connection = servers_.release();
}

void Session::hold_input(bool wanted) {
  if (input_.is_held() == wanted) return;
  input_.hold(wanted);
  choose_reading();
  if (!wanted && input_.is_throttled() && !closed()) resume_later();
}

bool Session::take_connections(CarriedClient& came) {
  const CarriedSession& before = came.session;
  const bool is_adopted =
      before.private_connection &&
      servers_.adopt(std::move(came.private_connection), *before.private_connection);
  if (!is_adopted && (before.private_connection || is_bound())) return false;
  for (net::Stream& node : came.nodes)
    if (!subscriptions().adopt(std::move(node))) return false;
  if (before.listens) subscriptions().listen();
  if (before.transaction.queue && !queue_again(*before.transaction.queue)) return false;
  return !before.waiting || go_on_waiting(*before.waiting);
}

void Session::go_on_carried(const CarriedSession& before) {
  if (own() != nullptr && before.is_raw) own()->relay_raw({});
  if (subscriptions_ != nullptr) subscriptions_->look_again();
  if (!before.input.empty()) received(before.input, parts_.loop.clock());
}

bool Session::queue_again(const QueuedTransaction& before) {
  transaction().take_queue(before);
  for (const std::string& wire : before.requests) {
    resp::RequestParser parser(resp::limits_for(wire.size()));
    std::optional<Request> request;
    if (!read_carried(parser, wire, parts_, request)) return false;
    Pending noted;
    effects().note_keys(*request, noted);
  }
  return true;
}

// As send_waiting(), for a command that the other process has sent.
bool Session::go_on_waiting(const CarriedSession::Waiting& before) {
  resp::RequestParser parser;
  std::optional<Request> read;
  if (!read_carried(parser, before.request, parts_, read)) return false;
  Request& request = *read;
  blocked().go_on(request, before);
  const bool skips = std::exchange(reply_skip_, false);  // concerns a later command
  Pending pending =
      make_pending(request, BlockedCommand::of(BlockedCommand::Asked::kCommand), 0, true);
  reply_skip_ = skips;
  pending.silent = before.silent;
  pending.ticket = output_.expect_effect();
  ++traffic_.sent;
  own()->expect(std::move(pending));
  stall(Awaited::kAnswer);
  return true;
}

}  // namespace heatsink::proxy
