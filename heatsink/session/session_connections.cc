// SPDX-License-Identifier: Apache-2.0
// Chooses the upstream connection of each command, and changes from one connection to the other.
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/command/failure_text.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

Step Session::stall(Awaited why) {
  stall_ = why;
  return Step::kStall;
}

// Null: `step` says whether the request waits, or has failed with Request::Waited::refusal.
Upstream* Session::connection_for(Request& request, bool own_connection, Step& step) {
  if (must_drain_first()) {
    step = stall(Awaited::kDrain);
    return nullptr;
  }
  if (private_ && !own_connection && may_leave_private()) give_back(true);
  if (private_ || own_connection) return private_connection(request, step);
  return shared_connection(request, step);
}

// The result of a request without a connection: it waits, or gets its error.
Step Session::no_connection(Request& request, Step step) {
  if (step == Step::kStall) return step;
  if (!closing_) parts_.count(copies::Count::kUnservedCommands);  // reply_error() counts it
  return reply_error(request.waited().refusal);
}

Upstream* Session::without_connection(Request& request, std::string&& reason, Step& step) {
  request.waited().refusal = std::move(reason);
  step = Step::kDone;
  return nullptr;
}

// The private connection holds state that is lost with it.
bool Session::has_state() const {
  return pinned_ || is_bound() || (in_multi_ && !transaction_failed() && queued_ == nullptr) ||
         watching_ || in_stream();
}

// The private connection leads to another server, or has the login of another user. What has state
// there stays there.
bool Session::is_elsewhere(const Destination& to) const {
  if (has_state()) return false;
  const bool is_others =
      user_ == User::kOther && client_user_ != nullptr && private_->user() != client_user_.get();
  return is_others || !upstreams_->carries(*private_, to);
}

Destination Session::destination_of(const Request& request) const {
  if (request.has_waited() && request.waited_for().redirected_to != nullptr)
    return Destination::at(*request.waited_for().redirected_to);
  if (queued_ != nullptr && request.route == Route::kExec)
    return queued_->slot ? Destination::of_slot(*queued_->slot) : Destination::any();
  return Destination::of(request);
}

bool Session::may_leave_private() const {
  return !has_state() && in_flight() == 0 && private_->ready();
}

Upstream* Session::private_connection(Request& request, Step& step) {
  if (must_drain_first()) {
    step = stall(Awaited::kDrain);
    return nullptr;
  }
  Upstream* connection = private_in_any_db(request, step);
  return connection == nullptr ? nullptr : in_right_db(*connection, request, step);
}

Upstream* Session::private_in_any_db(Request& request, Step& step, bool urgent) {
  const Destination to = destination_of(request);
  if (request.has_waited() && !request.waited().connection_error.empty()) {
    const std::string problem = std::exchange(request.waited().connection_error, {});
    if (std::exchange(request.waited().is_login_refused, false))
      return login_is_refused(request, problem, step);
    if (!finds_no_server(request, to, step)) server_is_down(request, problem, step);
    return nullptr;
  }
  if (!private_ || is_elsewhere(to)) {
    if (in_flight() > 0) {
      step = stall(Awaited::kDrain);
      return nullptr;
    }
    if (private_) give_back(true);
    // An urgent request (SCRIPT KILL) tries to reach a server even if other connections found it
    // silent: that may be why the client sends it.
    if (!urgent && upstreams_->is_away(to) && finds_no_server(request, to, step)) return nullptr;
    std::string error;
    if (!acquire(to, error, urgent))
      return without_connection(request, "ERR heatsink: " + error, step);
  }
  if (!private_->ready()) {
    step = stall(Awaited::kPrivate);
    return nullptr;
  }
  return private_.get();
}

// False: `error` has the reason, without the prefix of errors.
bool Session::acquire(const Destination& to, std::string& error, bool urgent) {
  const Upstream::Login login = has_login() ? Upstream::Login::kOwn : Upstream::Login::kNone;
  private_ = upstreams_->borrow(
      *this, to,
      {.protocol = login == Upstream::Login::kOwn ? protocol_ : resp::Protocol::kResp2,
       .login = login,
       .db = db_,
       .urgent = urgent});
  if (private_) return true;
  error = "all proxy.maximum-private-connections are in use; try again later or raise the limit";
  return false;
}

Upstream* Session::shared_connection(Request& request, Step& step) {
  const Destination to = destination_of(request);
  const Upstreams::Shared shared = upstreams_->shared(protocol_, to);
  if (shared.connection == nullptr || shared.connection->is_read_slowly())
    return without_shared(request, protocol_, to, shared, step);
  return in_right_db(*shared.connection, request, step);
}

// Null. The request waits for the shared connection, or has failed because there is none.
Upstream* Session::without_shared(Request& request, resp::Protocol protocol, const Destination& to,
                                  const Upstreams::Shared& shared, Step& step) {
  if (shared.down != nullptr)
    return shared.refuses_login ? login_is_refused(request, *shared.down, step)
                                : server_is_down(request, *shared.down, step);
  if (upstreams_->is_away(to) && !std::exchange(request.waited().awaits_server, true))
    parts_.count(copies::Count::kServerAwaited);
  upstreams_->await_shared(protocol, to, *this);
  step = stall(Awaited::kShared);
  return nullptr;
}

// True: no server answers, and the request waits for one, or has failed. A server that refuses only
// the proxy's own login may answer on a connection without it.
bool Session::finds_no_server(Request& request, const Destination& to, Step& step) {
  const Upstreams::Shared shared = upstreams_->shared(protocol_, to);
  if (shared.connection != nullptr || shared.refuses_login) return false;
  without_shared(request, protocol_, to, shared, step);
  return true;
}

// The request has not been sent, and waits for a server that is away.
bool Session::awaits_server() const {
  return stall_ == Awaited::kShared && waiting_ != nullptr && waiting_->has_waited() &&
         waiting_->waited_for().awaits_server;
}

Upstream* Session::in_right_db(Upstream& connection, Request& request, Step& step) {
  if (request.has_waited() && !request.waited().db_error.empty())
    return without_connection(request, std::exchange(request.waited().db_error, {}), step);
  if (right_db(connection)) return &connection;
  step = stall(Awaited::kDrain);
  return nullptr;
}

// Sends SELECT before the request if needed. False: the request waits for the reply to SELECT,
// because the connection has never used this database, or is a private one. A command must not run
// in the wrong database; a busy server would run some (MULTI) there, since it refuses SELECT.
bool Session::right_db(Upstream& connection) {
  if (connection.db() == db_ || (pinned_ && &connection == private_.get())) return true;
  if (connection.login() == Upstream::Login::kNone && user_ != User::kOther)
    return true;  // AUTH needs no database
  const bool own = &connection == private_.get();
  if (!own && connection.knows_db(db_)) {
    connection.use_db(db_);
    return true;
  }
  ++traffic_.sent;
  // A private connection has no other user, so this SELECT decides its database.
  connection.set_db(own ? db_ : Upstream::kUnknownDb);
  connection.send_select(db_, this);
  return false;
}

// The client keeps this connection until it leaves or sends RESET. Within MULTI the server would
// queue the command that gives the connection the client's name, and EXEC would have a reply too
// many.
void Session::pin() {
  if (!private_ || std::exchange(pinned_, true)) return;
  // Or the client has named the connection itself.
  if (is_bound() || introduced_) return;
  if (in_multi_) {
    name_owed_ = true;
  } else {
    introduce();
  }
}

void Session::introduce_if_owed() {
  if (std::exchange(name_owed_, false) && private_) introduce();
}

// Gives the private connection the client's name and library. HELLO and not CLIENT SETNAME: each
// user may call HELLO, and the ACL LOG does not record it. The library has no such command, so the
// proxy sends it while the connection still has the proxy's login.
void Session::introduce(Introduction how) {
  introduced_ = true;
  const bool bare = private_->login() == Upstream::Login::kNone;
  const auto tell = [this, how](std::initializer_list<std::string_view> args) {
    ByteBuffer request;
    resp::append_request(request, args);
    Pending pending;
    pending.kind = PendingKind::kOwn;
    if (how == Introduction::kAwaited) {
      pending.session = this;
      pending.silent = true;
      ++traffic_.sent;
    }
    private_->send(request.view(), std::move(pending));
  };
  const bool resp3 = private_->protocol() == resp::Protocol::kResp3;
  const bool knows_hello = bare || !private_->hello_reply().empty();
  if (bare && name_.empty()) {
    // neither the connection nor the client has a name
  } else if (knows_hello) {
    tell({"HELLO", resp3 ? "3" : "2", "SETNAME", name_});
  } else {
    tell({"CLIENT", "SETNAME", name_});
  }
  if (!library_name_.empty()) tell({"CLIENT", "SETINFO", "LIB-NAME", library_name_});
  if (!library_version_.empty()) tell({"CLIENT", "SETINFO", "LIB-VER", library_version_});
}

// A connection with a client's name is useless for other clients.
void Session::give_back(bool clean) {
  pinned_ = false;
  const bool anonymous = !std::exchange(introduced_, false);
  if (std::exchange(lent_name_, false) && clean && anonymous && private_->ready()) {
    const bool resp3 = private_->protocol() == resp::Protocol::kResp3;
    private_->send_own({"HELLO", resp3 ? "3" : "2", "SETNAME", "heatsink"});
  }
  const bool is_clean = clean && anonymous && has_login();
  opener_of(*private_, parts_.upstreams).give_back(std::move(private_), is_clean);
}

void Session::renew_right(const Request& request, const copies::Right& right) {
  const bool free = private_ && private_->ready() && !is_blocked() &&
                    (pinned_ || private_->db() == db_) && private_->unsent() == 0 &&
                    upstreams_->carries(*private_, Destination::of(request));
  if (!free) return;
  parts_.count(copies::Count::kProofsRenewed);
  Pending pending;
  pending.kind = PendingKind::kOwn;
  pending.asked_right =
      std::make_unique<copies::AskedRight>(copies::AskedRight{right, request.now});
  private_->send(request.raw, std::move(pending));
}

// The server must not execute a transaction without one of its commands. An unknown command makes
// it answer EXEC as after any command that it refused to queue.
void Session::make_exec_fail() { private_->send_own({"HEATSINK", "LIMITED"}); }

void Session::private_ready() {
  if (!again_.empty()) {
    ask_next_again();
    return;
  }
  if (stall_ == Awaited::kPrivate) resume_later();
}

// Before the connection was ready, only the waiting command is affected. Later the client has lost
// state that it relies on, so the proxy closes the client, as the server would.
std::unique_ptr<Upstream> Session::private_failed(const std::string& reason) {
  std::unique_ptr<Upstream> failed = std::move(private_);
  const bool state_lost = has_state();
  pinned_ = introduced_ = lent_name_ = false;
  login_asked_.reset();
  if (closed_) return failed;
  if (stall_ == Awaited::kPrivate) {
    waiting_->waited().connection_error = failed->server().unreachable(reason);
    waiting_->waited().is_login_refused = failed->refused();
    resume_later();
  } else if (!again_.empty()) {
    again_.front().error = reason;
    again_.front().is_lost = !failed->refused();
    ask_next_again();
  } else if (state_lost) {
    log_limited(LogLevel::kWarning, "state lost",
                "a client was disconnected because its private connection to upstream " +
                    failed->server().where() + " failed: " + reason +
                    "; it can connect again: if this line comes back, look at the server",
                parts_.loop.now());
    close_when_flushed();
  } else {
    after_reply();
  }
  return failed;
}

void Session::server_moved() {
  if (closed_ || !private_ || !private_->is_outdated()) return;
  if (private_->waits_for_server()) return private_->connect();
  private_->cut_off("another server is the master now");
}

void Session::node_left(const redis::UpstreamAddress& server) {
  if (closed_ || !private_ || &private_->server() != &server) return;
  // A subscriber waits for messages that this node may never hear of again.
  if (private_->owes_nothing() && subscribed())
    return private_->cut_off(std::string(Upstreams::kReplaced));
  if (private_->owes_nothing() || private_->owes_since(parts_.loop.now()) < Upstreams::kLastAnswers)
    return;
  private_->cut_off(std::string(Upstreams::kReplaced));
}

// Client libraries remember per connection which scripts the server has, and send EVALSHA for them;
// some cannot retry within MULTI. A restarted server has no scripts.
void Session::server_left() {
  if (ran_script_at_ == TimePoint{} || closed_) return;
  log_limited(LogLevel::kWarning, "scripts lost",
              "a client that has run scripts was disconnected, because upstream " +
                  parts_.shared.upstream_address.where() +
                  " may have lost them: a client loads its scripts again when it connects",
              parts_.loop.now());
  close_when_flushed();
}

void Session::shared_settled() {
  if (stall_ == Awaited::kShared) resume_later();
}

void Session::release_hold() {
  if (closed_ || traffic_.holds == 0 || --traffic_.holds > 0) return;
  flush_later();
  if (throttled_) resume_later();
}

// The reply was too big for a shared connection to this same server, or a replica did not answer
// and no shared connection to the master is ready.
void Session::acquire_for(Again& again) {
  resp::RequestParser parser(resp::limits_for(again.request.size()));
  static_cast<void>(parser.parse(std::string_view(again.request)));
  Request request(parser.args(), again.request);
  request.command = parts_.commands.find(request.args());
  const Destination to = Destination::of(request);
  if (private_ && is_elsewhere(to)) give_back(true);
  if (!private_) acquire(to, again.error);
}

// Sends the next read again, once its private connection is ready. Nothing else is sent until the
// last such read is answered, and nothing is in flight beside it, so its reply may use all of the
// client's output.
void Session::ask_next_again() {
  while (!again_.empty()) {
    Again& next = again_.front();
    if (next.sent || in_flight() > 0) return;
    if (next.error.empty()) acquire_for(next);
    if (!next.error.empty()) {
      if (next.is_lost && closes_when_down()) return close_when_flushed();
      const std::string problem =
          "a read that had to be sent again, on a private connection, failed: " + next.error;
      ByteBuffer error;
      resp::append_error(error, next.is_lost ? not_executed(problem) : "ERR heatsink: " + problem);
      const ReplyQueue::Ticket ticket = next.ticket;
      again_.pop_front();
      put_reply(ticket, error.view());
      end_reply(ticket);
      if (closed_) return;
      continue;
    }
    if (!private_->ready() || !right_db(*private_))
      return;  // private_ready() or reply_done() continues
    Pending pending;
    pending.session = this;
    pending.kind = PendingKind::kAgain;
    pending.ticket = next.ticket;
    pending.keys = std::move(next.keys);
    pending.read_only = true;
    ++traffic_.sent;
    next.sent = true;
    private_->send(next.request, std::move(pending));
    return;
  }
  if (private_ && !pinned_) give_back(true);
  resume_later();
}

bool Session::closes_when_down() const { return parts_.shared.options().on_down == "close"; }

Upstream* Session::server_is_down(Request& request, std::string_view problem, Step& step) {
  parts_.count(copies::Count::kUpstreamErrors);
  if (closes_when_down()) close_when_flushed();
  return without_connection(request, not_executed(problem), step);
}

// An error in any case: a closed connection would not say what is wrong with the configuration.
Upstream* Session::login_is_refused(Request& request, std::string_view problem, Step& step) {
  parts_.count(copies::Count::kUpstreamErrors);
  return without_connection(request, not_executed(problem), step);
}

}  // namespace heatsink::proxy
