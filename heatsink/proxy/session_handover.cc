// SPDX-License-Identifier: Apache-2.0
// Gives a session to another process, and continues one of another process
// (docs/design/handover.md).
#include <utility>

#include "heatsink/proxy/session.h"

namespace heatsink::proxy {

// Continues the session. Nothing is processed before go_on_carried().
Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 CarriedSession& before, std::string_view peer)
    : ClientState(std::move(before.state)),
      parts_(parts),
      host_(host),
      id_(before.id),
      address_(parts.shared.client_names.enter(peer, parts.loop.now())),
      client_(client),
      memory_(parts.shared.memory),
      reliefs_(parts, context()) {
  become(user_, user_name_.empty() ? "default" : std::string(user_name_));
  if (is_bound() && !before.private_connection && parts.shared.cluster.is_expected())
    use_servers_of({});
  // What the client has seen in the other process counts as seen now.
  traffic_.note_reply_at(parts.loop.clock());
  if (before.ran_script) ran_script_at_ = parts.loop.clock();
  if (before.is_raw) mode_ = Mode::kRaw;
  if (!in_multi_) return;
  // The keys of the queued commands are known to the other process only.
  transaction_unknown_ = transaction_runs_code_ = true;
  traffic_.touch_all();
}

bool Session::may_hand_over() const {
  const bool goes_on =
      !closed_ && !closing_ && !input_ended_ && !client_lost_ && !finishes_ && !leaves_;
  const bool is_quiet = putting_back_ == 0 && traffic_.holds == 0 && !flush_due_ && !resume_due_ &&
                        waiting_ == nullptr && offered_ == nullptr && again_.empty() &&
                        (!throttled_ || holds_input_) && client_.output().empty();
  const bool at_rest = wait_ ? may_carry_wait()
                             : in_flight() == 0 && stall_ == Awaited::kNothing && replies_.empty();
  return goes_on && is_quiet && at_rest && may_carry_state() &&
         (!private_ || private_->may_release(wait_ ? 1 : 0));
}

// The command waits on the server: the reply to its mark has come, and the next one is its own.
bool Session::may_carry_wait() const {
  return private_ && in_flight() == 1 && stall_ == Awaited::kAnswer && wait_->may_be_carried() &&
         replies_.kept_bytes() == 0;
}

bool Session::may_carry_state() const {
  const bool needs_no_password =
      client_user_ == nullptr || (!client_user_->credentials.given() && !private_);
  const bool is_settled = subscribing_.empty() && transaction_channels_.empty() &&
                          !transaction_hello_ && transaction_refusal_.empty() &&
                          login_asked_ == nullptr && queued_ == nullptr && listeners_ == nullptr &&
                          needs_no_password && debugger_ == Debugger::kOff;
  const bool is_movable = !private_ || private_->is_plain() || !has_state();
  const bool fits =
      input_.size() <= CarriedSession::kInputMax && !oversized_.is_active() &&
      name_.size() <= CarriedSession::kNameMax && user_name_.size() <= CarriedSession::kNameMax &&
      library_name_.size() + library_version_.size() <= CarriedSession::kNameMax &&
      channels_.size() + patterns_.size() + shard_channels_.size() <= CarriedSession::kChannelsMax;
  // A client that has not logged in needs no login elsewhere either.
  const bool needs_login = user_ == User::kOther && user_name_ != "default";
  const bool needs_private = pinned_ || in_multi_ || watching_ || in_stream() || subscribed() ||
                             receives_messages_ || needs_login;
  return is_settled && is_movable && fits && (private_ || !needs_private);
}

CarriedSession Session::carry() {
  CarriedSession out;
  out.id = id_;
  out.state = std::move(static_cast<ClientState&>(*this));
  out.input = input_.view();
  out.is_raw = mode_ == Mode::kRaw;
  out.ran_script = ran_script_at_ != TimePoint{};
  if (private_) {
    out.private_connection = {private_->protocol(), private_->login() == Upstream::Login::kOwn,
                              !private_->hello_reply().empty(), private_->db()};
  }
  if (wait_) out.waiting = {wait_->request(), wait_->connection(), private_->is_next_silent()};
  return out;
}

net::Stream Session::hand_over() {
  closed_ = true;
  wait_.reset();
  replies_.clear();
  input_.release();
  memory_.note(0);
  reliefs_.close();
  if (!private_) return {};
  net::Stream stream = private_->release_stream();
  opener_of(*private_, parts_.upstreams).discard(std::move(private_));
  return stream;
}

void Session::hold_input(bool wanted) {
  if (holds_input_ == wanted) return;
  holds_input_ = wanted;
  choose_reading();
  if (!wanted && throttled_ && !closed_) resume_later();
}

bool Session::go_on_carried(const CarriedSession& before, net::Stream connection) {
  if (before.private_connection) {
    private_ = upstreams_->adopt(*this, std::move(connection), *before.private_connection);
    if (!private_) return false;
    if (before.is_raw) private_->relay_raw({});
  }
  if (before.waiting && !go_on_waiting(*before.waiting)) return false;
  if (!before.input.empty()) received(before.input, parts_.loop.clock());
  return !closed_;
}

// As send_waiting(), for a command that the other process has sent.
bool Session::go_on_waiting(const CarriedSession::Waiting& before) {
  resp::RequestParser parser;
  const std::string_view wire = before.request;
  if (parser.parse(wire) != resp::ParseStatus::kRequest || parser.size() != wire.size() ||
      parser.args().empty())
    return false;
  Request request(parser.args(), wire);
  request.now = parts_.loop.clock();
  request.command = parts_.commands.find(request.args());
  if (request.command == nullptr || !request.has_right_arity()) return false;
  request.facts = &parts_.commands.facts(*request.command);
  request.route = request.facts->route;
  wait_ = std::make_unique<Wait>(CommandUndo(request.args()), false, request.now);
  wait_->keep_request(wire);
  wait_->carry_on(before.connection, request.now);
  const bool skips = std::exchange(reply_skip_, false);  // concerns a later command
  Pending pending = make_pending(request, PendingKind::kWaiting, 0);
  reply_skip_ = skips;
  pending.silent = before.silent;
  pending.ticket = replies_.expect();
  last_effect_ = pending.ticket;
  ++traffic_.sent;
  private_->expect(std::move(pending));
  stall(Awaited::kAnswer);
  return true;
}

}  // namespace heatsink::proxy
