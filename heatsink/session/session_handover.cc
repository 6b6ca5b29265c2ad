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
  const bool is_plain = own() == nullptr && !is_raw() && servers_.user() == nullptr &&
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
    : Session(parts, host, client, before.id,
              parts.shared.client_names.enter(peer, parts.loop.now()), std::move(before.state)) {
  identity().become(user_, user_name_.empty() ? "default" : std::string(user_name_));
  const bool is_known = before.login || (is_bound() && !before.private_connection);
  if (is_known && parts.shared.cluster.is_expected())
    identity().use_servers_of(before.login.value_or(redis::Credentials()));
  if (before.subscriptions.any() || before.subscriptions.receives_messages ||
      before.subscriptions.hears_hot)
    subscriptions().take(before.subscriptions);
  if (before.has_written) servers_.note_all_written();
  // What the client has seen in the other process counts as seen now.
  traffic_.note_reply_at(parts.loop.clock());
  if (before.ran_script) ran_script_at_ = parts.loop.clock();
  if (before.is_raw) raw_stream().go_on();
  if (in_multi_ || watching_) transaction().take_over(before.transaction);
  if (in_multi_) traffic_.touch_all();
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
  return goes_on && is_quiet && at_rest && carrier().may_carry(layout) &&
         (subscriptions_ == nullptr || subscriptions_->may_release()) &&
         (near_ == nullptr || near_->is_at_rest()) && servers_.may_release(is_blocked() ? 1 : 0);
}

// The command waits on the server: the reply to its mark has come, and the next one is its own.
bool Session::may_carry_wait() const {
  return own() != nullptr && in_flight() == 1 && input_.awaited() == Awaited::kAnswer &&
         blocked_->wait().may_be_carried() && !output_.keeps_bytes();
}

SessionCarrier Session::carrier() const {
  return SessionCarrier({*this, servers_, input_, blocked_.get(), subscriptions_.get(),
                         transaction_.get(), is_raw()});
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
  if (!servers_.adopt(std::move(came.private_connection), before.private_connection)) return false;
  for (net::Stream& node : came.nodes)
    if (!subscriptions().adopt(std::move(node))) return false;
  if (before.listens) subscriptions().listen();
  if (before.transaction.queue && !queue_again(*before.transaction.queue)) return false;
  return !before.waiting || go_on_waiting(*before.waiting);
}

void Session::go_on_carried(const CarriedSession& before) {
  if (before.is_raw) relay({});
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

// As BlockedCommand::run(), for a command that the other process has sent.
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
