// SPDX-License-Identifier: Apache-2.0
// Runs commands that may wait on the server, and cleans up when their client leaves (wait.h).
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/session/session.h"
#include "heatsink/topology/redirect.h"

namespace heatsink::proxy {
namespace {

// Longer than the client's answer to a byte takes. Only clients that ended their output before
// their reply came wait for this time.
constexpr Nanos kOfferedFor = Millis(20);

constexpr std::string_view kKeyBeforeWait = "heatsink:wait";
constexpr std::uint8_t kOwnWritesMax = 5;  // each in another slot, if slots move

}  // namespace

Step Session::forward_waiting(Request& request) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  return connection == nullptr ? no_connection(request, step) : send_waiting(*connection, request);
}

// WAIT waits for the last command, or write, on its own connection: here the mark before it
// (wait.h), or the proxy's own write. Without them it would not wait for this client's writes on
// another connection. In front of a cluster it waits for each node that the client has written to.
Step Session::run_wait(Request& request) {
  if (queues_transactions() && !written_.all().empty() && !has_state()) {
    if (in_flight() > 0) return stall(Awaited::kDrain);  // a node may refuse a write
    if (node_wait_ == nullptr) node_wait_ = std::make_unique<NodeWait>(written_.all());
    request.waited().redirected_to = node_wait_->node();
  }
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (connection == nullptr && step != Step::kStall) node_wait_.reset();
  if (connection == nullptr) return no_connection(request, step);
  if (const std::optional<Step> first = before_wait(*connection, request)) return *first;
  return send_waiting(*connection, request);
}

// nullopt: WAIT may be sent now.
std::optional<Step> Session::before_wait(Upstream& connection, Request& request) {
  const std::uint8_t writes = request.has_waited() ? request.waited_for().own_writes : 0;
  const std::string error =
      writes > 0 ? std::exchange(request.waited().own_write_error, {}) : std::string();
  if (writes > 0 && error.empty()) return std::nullopt;
  const bool has_moved = topology::parse_redirect(error).has_value();
  if (writes == 0 || (has_moved && writes < kOwnWritesMax)) {
    if (!write_before_wait(connection)) return std::nullopt;
    ++request.waited().own_writes;
    return stall(Awaited::kDrain);
  }
  node_wait_.reset();
  return reply_error("ERR heatsink: " + std::string(request.args()[0]) +
                     " needs a write of the proxy's own before it (SET " +
                     std::string(kKeyBeforeWait) + "), which the server has refused: " + error);
}

// False: not needed, or the node has no slots, so nothing can be written there.
bool Session::write_before_wait(Upstream& connection) {
  if (is_bound() || !written_.has(connection.server())) return false;
  if (!waits_for_own_writes(connection.hello_reply())) return false;
  if (subscribed() && protocol_ == resp::Protocol::kResp2) return false;  // WAIT is refused
  std::string key(kKeyBeforeWait);
  if (const std::shared_ptr<const topology::SlotMap> map = upstreams_->slot_map()) {
    const auto node = parts_.shared.cluster.index_of(connection.server());
    const auto slot = node ? map->slot_of(*node, parts_.shared.next_random()) : std::nullopt;
    if (!slot) return false;
    key = resp::name_in_slot(*slot, key);
  }
  ByteBuffer set;
  resp::append_request(set, {"SET", key, "", "PX", "1"});
  Pending pending;
  pending.session = this;
  pending.kind = PendingKind::kOwnWrite;
  ++traffic_.sent;
  connection.send(set.view(), std::move(pending));
  return true;
}

// No request follows a waiting one: after its wait was ended for a client that has left, the server
// would execute that request.
Step Session::send_waiting(Upstream& connection, Request& request) {
  // The server refuses the command at once, and the mark with it.
  if (subscribed() && protocol_ == resp::Protocol::kResp2)
    return send_on(connection, request, PendingKind::kForward, 0);
  const bool ended = input_ended_ || client_.peer_has_ended();
  wait_ = std::make_unique<Wait>(CommandUndo(request.args()), ended, parts_.loop.clock());
  if (request.raw.size() <= CarriedSession::kWaitingRequestMax) wait_->keep_request(request.raw);
  send_mark(connection);
  send_on(connection, request, PendingKind::kWaiting, 0);
  stall(Awaited::kAnswer);
  return Step::kDone;
}

// The reply to the mark arrives when the server has answered all earlier requests. The mark also
// sets the client's name: libraries count waiting clients (workers of a queue) by name in CLIENT
// LIST.
void Session::send_mark(Upstream& connection) {
  ByteBuffer hello;
  if (name_.empty() || introduced_) {
    resp::append_request(hello, {"HELLO"});
  } else {
    redis::append_hello(hello, connection.protocol(), {}, name_);
    lent_name_ = true;
  }
  Pending mark;
  mark.session = this;
  mark.kind = PendingKind::kMark;
  mark.reveals_keys = false;
  ++traffic_.sent;
  connection.send(hello.view(), std::move(mark));
}

// If the client has already left, the reply may still come in this turn: decide at its end.
void Session::mark_answered(std::string_view hello) {
  if (!wait_) return;
  wait_->mark_answered(hello, private_->read_at());
  if (input_ended_ || times_out_) resume_later();
}

void Session::end_wait() {
  if (closed_ || !wait_ || !(input_ended_ || times_out_)) return;
  act_on_wait(wait_->client_left());
}

void Session::retry_end_of_wait() {
  if (wait_) wait_->pause_is_over();
  end_wait();
}

void Session::unblock_answered(std::string_view reply) {
  if (wait_) act_on_wait(wait_->unblock_answered(reply));
}

void Session::act_on_wait(Wait::Next next) {
  switch (next) {
    case Wait::Next::kNothing:
      return;
    case Wait::Next::kRetry:
      host_.call_later(*this, wait_->pause(), &Session::retry_end_of_wait);
      return;
    case Wait::Next::kUnblock:
      if (!unblock()) act_on_wait(wait_->not_sent(parts_.loop.clock()));
      return;
    case Wait::Next::kClose:
      close();
      return;
  }
}

// False: no other connection is ready.
bool Session::unblock() {
  // With the proxy's own login, because the client's user may lack the right.
  Upstream* const connection = private_ ? parts_.upstreams.shared_beside(*private_) : nullptr;
  if (connection == nullptr) return false;
  parts_.count(copies::Count::kWaitsEnded);
  ByteBuffer request;
  const std::string id = std::to_string(wait_->connection());
  const bool is_left = input_ended_ || !times_out_;
  resp::append_request(request, {"CLIENT", "UNBLOCK", id, is_left ? "ERROR" : "TIMEOUT"});
  Pending pending;
  pending.session = this;
  pending.kind = PendingKind::kUnblock;
  pending.reveals_keys = false;
  ++traffic_.sent;
  connection->send(request.view(), std::move(pending));
  return true;
}

// The reply to the waiting command begins.
bool Session::keeps_reply(TimePoint read_at, bool silent) {
  if (!wait_) return false;
  if (node_wait_ != nullptr) {
    wait_->keep_reply(false);
    return true;
  }
  const bool waited = wait_->has_waited(read_at);
  if (!waited && (silent || !wait_->undo().takes_data())) return false;
  if (!input_ended_ && !client_.peer_has_ended()) return false;
  input_ended_ |= waited;  // a command that did not wait may have others behind it
  wait_->keep_reply(waited);
  return true;
}

// True: the client gets the reply now.
bool Session::settle_kept(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket,
                          std::string_view wire) {
  resp::Value reply;
  std::size_t used = 0;
  if (resp::parse_value(wire, reply, used) != resp::ValueStatus::kValue) {
    not_put_back("its reply is too large");
    close();
    return false;
  }
  const std::vector<PutBack> requests = wait->undo().requests(reply);
  if (wait->reply_waited()) {
    put_back(requests);
  } else if (requests.empty()) {
    put_reply(ticket, wire);
    return true;
  } else {
    offer(std::move(wait), ticket, wire);
  }
  return false;
}

// Sends one byte to find out whether the client has left or only ended its output: the kernel of a
// client that has left answers with a reset.
void Session::offer(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket, std::string_view wire) {
  offered_ = std::make_unique<Offered>(Offered{std::move(wait), ticket, std::string(wire)});
  if (client_lost_) {
    offer_refused();
    return;
  }
  put_reply(ticket, wire.substr(0, 1));
  if (!closed_) host_.call_later(*this, kOfferedFor, &Session::offer_taken);
}

void Session::offer_taken() {
  if (closed_ || !offered_) return;
  const std::unique_ptr<Offered> offered = std::move(offered_);
  put_reply(offered->ticket, std::string_view(offered->wire).substr(1));
  end_reply(offered->ticket);
  after_reply();
}

void Session::offer_refused() {
  const std::unique_ptr<Offered> offered = std::move(offered_);
  resp::Value reply;
  std::size_t used = 0;
  resp::parse_value(offered->wire, reply, used);
  put_back(offered->wait->undo().requests(reply));
}

// A server would have closed the connection at once, so no later request of the client is executed.
void Session::put_back(std::span<const PutBack> requests) {
  if (!private_ && !requests.empty()) not_put_back("the connection was lost");
  for (const PutBack& request : private_ ? requests : std::span<const PutBack>()) {
    Pending pending;
    pending.session = this;
    pending.kind = PendingKind::kPutBack;
    for (const std::string& key : request.keys) {
      const NameHash name = hash_name(key, parts_.shared.seed);
      pending.keys.add({name, in_db(name, db_), true});
    }
    parts_.copies.begin_writes(pending);
    ++traffic_.sent;
    ++putting_back_;
    private_->send(request.wire.view(), std::move(pending));
  }
  if (putting_back_ == 0) close();
}

void Session::put_back_answered(bool ok, std::string_view error) {
  if (ok) {
    parts_.count(copies::Count::kPutBack);
  } else {
    not_put_back(error);
  }
  if (--putting_back_ == 0) close();
}

void Session::not_put_back(std::string_view why) {
  parts_.count(copies::Count::kNotPutBack);
  log_limited(LogLevel::kWarning, "not put back",
              "elements popped for a client that had already left could not be put back: " +
                  std::string(why) + ": compare the list with what the application expects",
              parts_.loop.now());
}

}  // namespace heatsink::proxy
