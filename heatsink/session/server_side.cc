// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/server_side.h"

#include <utility>

#include "heatsink/command/failure_text.h"

namespace heatsink::proxy {

// ---- the connection of a request

Upstream* ServerSide::stalled(Awaited why, Step& step) {
  step = client_.stall_for(why);
  return nullptr;
}

Upstream* ServerSide::refused(Request& request, std::string&& reason, Step& step) {
  request.waited().refusal = std::move(reason);
  step = Step::kDone;
  return nullptr;
}

bool ServerSide::must_drain_first() {
  const std::uint64_t version = upstreams().map_version();
  if (version == map_version_) return false;
  if (traffic_.in_flight() > 0) return true;
  map_version_ = version;
  client_.map_changed();
  return false;
}

Upstream* ServerSide::connection_for(Request& request, bool own_connection, Step& step) {
  if (must_drain_first()) return stalled(Awaited::kDrain, step);
  if (own_ != nullptr && !own_connection) leave_if_free();
  if (own_ != nullptr || own_connection) return own_for(request, step);
  return shared_at(destination_of(request), request, step);
}

Destination ServerSide::destination_of(const Request& request) const {
  if (request.has_waited() && request.waited_for().redirected_to != nullptr)
    return Destination::at(*request.waited_for().redirected_to);
  if (request.route == Route::kExec)
    if (const std::optional<Destination> queued = client_.destination_of_exec()) return *queued;
  return Destination::of(request);
}

Upstream* ServerSide::own_for(Request& request, Step& step) {
  if (must_drain_first()) return stalled(Awaited::kDrain, step);
  Upstream* const connection = own_in_any_db(request, step);
  return connection == nullptr ? nullptr : in_right_db(*connection, request, step);
}

Upstream* ServerSide::own_in_any_db(Request& request, Step& step, bool urgent) {
  const Destination to = destination_of(request);
  if (request.has_waited() && !request.waited().connection_error.empty())
    return own_failed(request, to, step);
  if (own_ == nullptr || is_elsewhere(to)) {
    if (traffic_.in_flight() > 0) return stalled(Awaited::kDrain, step);
    give_back(true);
    // An urgent request (SCRIPT KILL) tries to reach a server even if other connections found it
    // silent: that may be why the client sends it.
    if (!urgent && upstreams().is_away(to) && finds_no_server(request, to, step)) return nullptr;
    std::string error;
    if (!acquire(to, error, urgent)) return refused(request, "ERR heatsink: " + error, step);
  }
  if (!own_->ready()) return stalled(Awaited::kPrivate, step);
  return own_.get();
}

// The connection that the request waited for has failed.
Upstream* ServerSide::own_failed(Request& request, const Destination& to, Step& step) {
  const std::string problem = std::exchange(request.waited().connection_error, {});
  if (std::exchange(request.waited().is_login_refused, false))
    return login_is_refused(request, problem, step);
  if (!finds_no_server(request, to, step)) server_is_down(request, problem, step);
  return nullptr;
}

Upstream* ServerSide::own_without_login(Request& request, Step& step) {
  if (own_ != nullptr && !has_state() && own_->login() == Upstream::Login::kOwn) give_back(true);
  const ClientState::User user =
      std::exchange(state_.user_, ClientState::User::kUnauthenticated);  // see acquire()
  std::shared_ptr<const ClientUser> servers_user = std::exchange(user_, nullptr);
  Upstream* const connection = own_in_any_db(request, step);
  state_.user_ = user;
  user_ = std::move(servers_user);
  return connection;
}

Upstream* ServerSide::shared_at(const Destination& to, Request& request, Step& step) {
  const Upstreams::Shared shared = upstreams().shared(state_.protocol_, to);
  if (shared.connection == nullptr || shared.connection->is_read_slowly())
    return without_shared(request, state_.protocol_, to, shared, step);
  return in_right_db(*shared.connection, request, step);
}

Upstream* ServerSide::ready_shared(Request& request) {
  if (must_drain_first()) return nullptr;
  Upstream* const shared = shared_for(request);
  const bool is_ready =
      shared != nullptr && shared->db() == state_.db_ && !shared->is_read_slowly();
  return is_ready ? shared : nullptr;
}

Upstream* ServerSide::without_shared(Request& request, resp::Protocol protocol,
                                     const Destination& to, const Upstreams::Shared& shared,
                                     Step& step) {
  if (shared.down != nullptr)
    return shared.refuses_login ? login_is_refused(request, *shared.down, step)
                                : server_is_down(request, *shared.down, step);
  if (upstreams().is_away(to) && !std::exchange(request.waited().awaits_server, true))
    parts_.count(copies::Count::kServerAwaited);
  upstreams().await_shared(protocol, to, client_.connection_owner());
  return stalled(Awaited::kShared, step);
}

// True: no server answers, and the request waits for one, or has failed. A server that refuses only
// the proxy's own login may answer on a connection without it.
bool ServerSide::finds_no_server(Request& request, const Destination& to, Step& step) {
  const Upstreams::Shared shared = upstreams().shared(state_.protocol_, to);
  if (shared.connection != nullptr || shared.refuses_login) return false;
  without_shared(request, state_.protocol_, to, shared, step);
  return true;
}

Upstream* ServerSide::server_is_down(Request& request, std::string_view problem, Step& step) {
  parts_.count(copies::Count::kUpstreamErrors);
  if (parts_.shared.options().on_down == policy::OnDown::kClose) client_.close_when_flushed();
  return refused(request, not_executed(problem), step);
}

// An error in any case: a closed connection would not say what is wrong with the configuration.
Upstream* ServerSide::login_is_refused(Request& request, std::string_view problem, Step& step) {
  parts_.count(copies::Count::kUpstreamErrors);
  return refused(request, not_executed(problem), step);
}

Upstream* ServerSide::in_right_db(Upstream& connection, Request& request, Step& step) {
  if (request.has_waited() && !request.waited().db_error.empty())
    return refused(request, std::exchange(request.waited().db_error, {}), step);
  return right_db(connection) ? &connection : stalled(Awaited::kDrain, step);
}

// Sends SELECT before the request if needed. False: the request waits for the reply to SELECT,
// because the connection has never used this database, or is the client's own. A command must not
// run in the wrong database; a busy server would run some (MULTI) there, since it refuses SELECT.
bool ServerSide::right_db(Upstream& connection) {
  const bool is_own = &connection == own_.get();
  if (connection.db() == state_.db_ || (state_.pinned_ && is_own)) return true;
  if (connection.login() == Upstream::Login::kNone && state_.user_ != ClientState::User::kOther)
    return true;  // AUTH needs no database
  if (!is_own && connection.knows_db(state_.db_)) {
    connection.use_db(state_.db_);
    return true;
  }
  ++traffic_.sent;
  // The client's own has no other user, so this SELECT decides its database.
  connection.set_db(is_own ? state_.db_ : Upstream::kUnknownDb);
  connection.send_select(state_.db_, &client_.connection_owner());
  return false;
}

// ---- the client's own connection

// It leads to another server, or has the login of another user. What has state there stays there.
bool ServerSide::is_elsewhere(const Destination& to) const {
  if (has_state()) return false;
  const bool is_others =
      state_.user_ == ClientState::User::kOther && user_ != nullptr && own_->user() != user_.get();
  return is_others || !upstreams().carries(*own_, to);
}

// False: `error` has the reason, without the prefix of errors.
bool ServerSide::acquire(const Destination& to, std::string& error, bool urgent) {
  const bool has_login = state_.user_ == ClientState::User::kShared ||
                         (state_.user_ == ClientState::User::kOther && user_ != nullptr);
  own_ = upstreams().borrow(client_.connection_owner(), to,
                            {.protocol = has_login ? state_.protocol_ : resp::Protocol::kResp2,
                             .login = has_login ? Upstream::Login::kOwn : Upstream::Login::kNone,
                             .db = state_.db_,
                             .urgent = urgent});
  if (own_ != nullptr) return true;
  error = "all proxy.maximum-private-connections are in use; try again later or raise the limit";
  return false;
}

bool ServerSide::lead_to(const Destination& to, std::string& error) {
  if (own_ != nullptr && is_elsewhere(to)) give_back(true);
  return own_ != nullptr || acquire(to, error);
}

// Within MULTI the server would queue the command that gives the connection the client's name, and
// EXEC would have a reply too many.
void ServerSide::pin() {
  if (own_ == nullptr || std::exchange(state_.pinned_, true)) return;
  // Or the client has named the connection itself.
  if (is_bound() || state_.introduced_) return;
  if (state_.in_multi_) {
    state_.name_owed_ = true;
  } else {
    introduce();
  }
}

void ServerSide::introduce_if_owed() {
  if (std::exchange(state_.name_owed_, false) && own_ != nullptr) introduce();
}

// HELLO and not CLIENT SETNAME: each user may call HELLO, and the ACL LOG does not record it. The
// library has no such command, so the proxy sends it while the connection still has the proxy's
// login.
void ServerSide::introduce(Introduction how) {
  state_.introduced_ = true;
  const bool bare = own_->login() == Upstream::Login::kNone;
  const auto tell = [this, how](std::initializer_list<std::string_view> args) {
    ByteBuffer request;
    resp::append_request(request, args);
    Pending pending;
    pending.kind = PendingKind::kOwn;
    if (how == Introduction::kAwaited) {
      pending.session = &client_.connection_owner();
      pending.silent = true;
      ++traffic_.sent;
    }
    own_->send(request.view(), std::move(pending));
  };
  const bool resp3 = own_->protocol() == resp::Protocol::kResp3;
  const bool knows_hello = bare || !own_->hello_reply().empty();
  if (bare && state_.name_.empty()) {
    // neither the connection nor the client has a name
  } else if (knows_hello) {
    tell({"HELLO", resp3 ? "3" : "2", "SETNAME", state_.name_});
  } else {
    tell({"CLIENT", "SETNAME", state_.name_});
  }
  if (!state_.library_name_.empty()) tell({"CLIENT", "SETINFO", "LIB-NAME", state_.library_name_});
  if (!state_.library_version_.empty())
    tell({"CLIENT", "SETINFO", "LIB-VER", state_.library_version_});
}

// A connection with a client's name is useless for other clients.
void ServerSide::give_back(bool clean) {
  if (own_ == nullptr) return;
  state_.pinned_ = false;
  const bool anonymous = !std::exchange(state_.introduced_, false);
  if (std::exchange(state_.lent_name_, false) && clean && anonymous && own_->ready()) {
    const bool resp3 = own_->protocol() == resp::Protocol::kResp3;
    own_->send_own({"HELLO", resp3 ? "3" : "2", "SETNAME", "heatsink"});
  }
  const bool has_login = state_.user_ == ClientState::User::kShared ||
                         (state_.user_ == ClientState::User::kOther && user_ != nullptr);
  opener_of(*own_, parts_.upstreams).give_back(std::move(own_), clean && anonymous && has_login);
}

// A connection that was opened to check a password speaks RESP2, whatever the client speaks.
void ServerSide::follow_protocol() {
  if (own_->protocol() == state_.protocol_) return;
  own_->send_own({"HELLO", state_.protocol_ == resp::Protocol::kResp3 ? "3" : "2"});
  own_->set_protocol(state_.protocol_);
}

void ServerSide::renew_right(const Request& request, const copies::Right& right, bool waits) {
  const bool free = own_ != nullptr && own_->ready() && !waits &&
                    (state_.pinned_ || own_->db() == state_.db_) && own_->unsent() == 0 &&
                    upstreams().carries(*own_, Destination::of(request));
  if (!free) return;
  parts_.count(copies::Count::kProofsRenewed);
  Pending pending;
  pending.kind = PendingKind::kOwn;
  pending.asked_right =
      std::make_unique<copies::AskedRight>(copies::AskedRight{right, request.now});
  own_->send(request.raw, std::move(pending));
}

std::unique_ptr<Upstream> ServerSide::lose() {
  state_.pinned_ = state_.introduced_ = state_.lent_name_ = false;
  return std::move(own_);
}

std::optional<CarriedPrivate> ServerSide::carried() const {
  if (own_ == nullptr) return std::nullopt;
  return CarriedPrivate{own_->protocol(), own_->login() == Upstream::Login::kOwn,
                        !own_->hello_reply().empty(), own_->db()};
}

bool ServerSide::adopt(net::Stream connection, const std::optional<CarriedPrivate>& before) {
  if (!before) return !is_bound();
  own_ = upstreams().adopt(client_.connection_owner(), std::move(connection), *before);
  return own_ != nullptr;
}

void ServerSide::note_all_written() {
  const std::vector<redis::UpstreamAddress*> masters = upstreams().all_masters();
  for (redis::UpstreamAddress* const each : masters) state_.written_.note(*each);
  if (masters.empty()) state_.written_.note(parts_.shared.upstream_address);
}

net::Stream ServerSide::release() {
  net::Stream stream = own_->release_stream();
  opener_of(*own_, parts_.upstreams).discard(std::move(own_));
  return stream;
}

void ServerSide::server_moved() {
  if (own_ == nullptr || !own_->is_outdated()) return;
  if (own_->waits_for_server()) return own_->connect();
  own_->cut_off("another server is the master now");
}

void ServerSide::node_left(const redis::UpstreamAddress& server) {
  if (own_ == nullptr || &own_->server() != &server) return;
  // A subscriber waits for messages that this node may never hear of again.
  const bool is_overdue = own_->owes_nothing()
                              ? client_.connection_owner().receives_messages()
                              : own_->owes_since(parts_.loop.now()) >= Upstreams::kLastAnswers;
  if (is_overdue) own_->cut_off(std::string(Upstreams::kReplaced));
}

}  // namespace heatsink::proxy
