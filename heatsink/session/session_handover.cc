// SPDX-License-Identifier: Apache-2.0
// Gives a session to another process, and continues one of another process
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
      watched_slot_(before.watched_slot),
      reliefs_(parts, context()) {
  become(user_, user_name_.empty() ? "default" : std::string(user_name_));
  const bool is_known = before.login || (is_bound() && !before.private_connection);
  if (is_known && parts.shared.cluster.is_expected())
    use_servers_of(before.login.value_or(redis::Credentials()));
  if (before.has_written) note_all_written();
  // What the client has seen in the other process counts as seen now.
  traffic_.note_reply_at(parts.loop.clock());
  if (before.ran_script) ran_script_at_ = parts.loop.clock();
  if (before.is_raw) mode_ = Mode::kRaw;
  if (!in_multi_) return;
  // The keys of the queued commands are known to the other process only.
  transaction_unknown_ = transaction_runs_code_ = true;
  traffic_.touch_all();
}

// WAIT asks all nodes, because the other process has not said which ones the client has written to.
void Session::note_all_written() {
  const std::vector<redis::UpstreamAddress*> masters = upstreams_->all_masters();
  for (redis::UpstreamAddress* const each : masters) written_.note(*each);
  if (masters.empty()) written_.note(parts_.shared.upstream_address);
}

bool Session::may_hand_over(std::uint32_t layout) const {
  const bool goes_on =
      !closed_ && !closing_ && !input_ended_ && !client_lost_ && !finishes_ && !leaves_;
  const bool gives_nothing_back =
      blocked_ == nullptr || !(blocked_->is_putting_back() || is_offering());
  const bool is_quiet = gives_nothing_back && traffic_.holds == 0 && !flush_due_ && !resume_due_ &&
                        waiting_ == nullptr && again_.empty() && heard_.empty() &&
                        (!throttled_ || holds_input_) && client_.output().empty();
  const bool at_rest = is_blocked()
                           ? may_carry_wait()
                           : in_flight() == 0 && stall_ == Awaited::kNothing && replies_.empty();
  return goes_on && is_quiet && at_rest && may_carry_state(layout) &&
         (listeners_ == nullptr || listeners_->may_release()) &&
         (!private_ || private_->may_release(is_blocked() ? 1 : 0));
}

// The command waits on the server: the reply to its mark has come, and the next one is its own.
bool Session::may_carry_wait() const {
  return private_ && in_flight() == 1 && stall_ == Awaited::kAnswer &&
         blocked_->wait().may_be_carried() && replies_.kept_bytes() == 0;
}

bool Session::stays_behind(std::uint32_t layout) const {
  const bool needs_login =
      client_user_ != nullptr && (client_user_->credentials.given() || private_);
  const bool needs_second = (in_multi_ && queued_ != nullptr) || listeners_ != nullptr ||
                            transaction_failed() || needs_login;
  // TLS cannot be continued: its keys are in this process.
  const bool is_tls = private_ && private_->ready() && !private_->is_plain();
  // Only the reply to EXEC tells what these commands have done.
  const bool awaits_exec = in_multi_ && needs_exec_reply();
  const bool listeners_stay = listeners_ != nullptr && !listeners_->can_move();
  return (layout < 2 && needs_second) || listeners_stay ||
         (is_tls && (has_state() || is_blocked())) || awaits_exec || is_too_long_to_carry();
}

bool Session::is_too_long_to_carry() const {
  using Carried = CarriedSession;
  return name_.size() > Carried::kNameMax || user_name_.size() > Carried::kNameMax ||
         library_name_.size() + library_version_.size() > Carried::kNameMax ||
         transaction_refusal_.size() > Carried::kNameMax ||
         channels_.size() + patterns_.size() + shard_channels_.size() > Carried::kChannelsMax ||
         (in_multi_ && queued_ != nullptr && queued_->bytes > Carried::kQueuedMax) ||
         (is_blocked() && blocked_->wait().request().empty());
}

bool Session::may_carry_state(std::uint32_t layout) const {
  if (stays_behind(layout)) return false;
  const bool is_settled = subscribing_.empty() && login_asked_ == nullptr &&
                          node_wait_ == nullptr && !needs_exec_reply();
  const bool fits = input_.size() <= CarriedSession::kInputMax && !oversized_.is_active();
  const bool is_users = !private_ || private_->user() == client_user_.get();
  return is_settled && fits && is_users && (private_ || !needs_private());
}

// What the client has on a server, it has on its private connection.
bool Session::needs_private() const {
  // A client that has not logged in needs no login elsewhere either.
  const bool needs_login = is_bound() && user_name_ != "default";
  const bool is_in_transaction = in_multi_ && queued_ == nullptr && !transaction_failed();
  const bool hears = !channels_.empty() || !patterns_.empty() ||
                     (!shard_channels_.empty() && listeners_ == nullptr);
  return needs_login || pinned_ || is_in_transaction || watching_ || in_stream() || hears ||
         receives_messages_;
}

CarriedSession Session::carry() {
  CarriedSession out;
  out.id = id_;
  out.has_written = !written_.all().empty();
  out.state = std::move(static_cast<ClientState&>(*this));
  out.input = input_.view();
  out.is_raw = mode_ == Mode::kRaw;
  out.ran_script = out.state.ran_script_at_ != TimePoint{};
  if (private_) {
    out.private_connection = {private_->protocol(), private_->login() == Upstream::Login::kOwn,
                              !private_->hello_reply().empty(), private_->db()};
  }
  if (is_blocked()) {
    const Wait& wait = blocked_->wait();
    out.waiting = {wait.request(), wait.connection(), private_->is_next_silent()};
  }
  if (listeners_ != nullptr) {
    out.listens = true;
    out.nodes = static_cast<std::uint32_t>(listeners_->descriptors().size());
  }
  if (client_user_ != nullptr) out.login = client_user_->credentials;
  out.watched_slot = watched_slot_;
  if (queued_ != nullptr) out.queued = *queued_;
  return out;
}

std::vector<int> Session::descriptors() const {
  std::vector<int> out;
  if (private_) out.push_back(private_->fd());
  if (listeners_ == nullptr) return out;
  const std::vector<int> nodes = listeners_->descriptors();
  out.insert(out.end(), nodes.begin(), nodes.end());
  return out;
}

void Session::hand_over(CarriedClient& to) {
  closed_ = true;
  if (blocked_ != nullptr) blocked_->close();
  replies_.clear();
  input_.release();
  memory_.note(0);
  reliefs_.close();
  if (listeners_ != nullptr) to.nodes = listeners_->release();
  if (!private_) return;
  to.private_connection = private_->release_stream();
  opener_of(*private_, parts_.upstreams).discard(std::move(private_));
}

void Session::hold_input(bool wanted) {
  if (holds_input_ == wanted) return;
  holds_input_ = wanted;
  choose_reading();
  if (!wanted && throttled_ && !closed_) resume_later();
}

bool Session::take_connections(CarriedClient& came) {
  const CarriedSession& before = came.session;
  if (before.private_connection) {
    private_ =
        upstreams_->adopt(*this, std::move(came.private_connection), *before.private_connection);
  }
  if (!private_ && (before.private_connection || is_bound())) return false;
  for (net::Stream& node : came.nodes)
    if (!listeners().adopt(std::move(node))) return false;
  if (before.listens) listen_again();
  if (before.queued && !queue_again(*before.queued)) return false;
  return !before.waiting || go_on_waiting(*before.waiting);
}

void Session::go_on_carried(const CarriedSession& before) {
  if (private_ && before.is_raw) private_->relay_raw({});
  if (listeners_ != nullptr) place_listeners();
  if (!before.input.empty()) received(before.input, parts_.loop.clock());
}

bool Session::queue_again(const QueuedTransaction& before) {
  queued_ = std::make_unique<QueuedTransaction>(before);
  for (const std::string& wire : queued_->requests) {
    resp::RequestParser parser(resp::limits_for(wire.size()));
    std::optional<Request> request;
    if (!read_carried(parser, wire, parts_, request)) return false;
    Pending noted;
    note_keys(*request, noted);
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
  Pending pending = make_pending(request, PendingKind::kWaiting, 0, true);
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
