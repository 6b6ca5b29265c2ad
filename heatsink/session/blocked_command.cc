// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/blocked_command.h"

#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/command/time_left.h"

namespace heatsink::proxy {
namespace {

// Longer than the client's answer to a byte takes. Only clients that ended their output before
// their reply came wait for this time.
constexpr Nanos kOfferedFor = Millis(20);
constexpr std::string_view kKeyBeforeWait = "heatsink:wait";
constexpr std::uint8_t kOwnWritesMax = 5;  // each in another slot, if slots move

}  // namespace

Step BlockedCommand::run(Request& request) {
  if (const std::optional<Step> step = client_.departs(request)) return *step;
  if (const std::optional<Step> step = client_.own_connection_for(request))
    return *step == Step::kStall ? *step : client_.refuse_without_connection(request);
  return send(request);
}

Step BlockedCommand::run_wait(Request& request) {
  const std::vector<redis::UpstreamAddress*>& written = state_.written_.all();
  if (client_.has_cluster() && !written.empty() && !client_.has_state()) {
    if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);  // one may be refused
    request.waited().redirected_to = ask_nodes(written);
  }
  if (const std::optional<Step> step = client_.own_connection_for(request)) {
    if (*step == Step::kStall) return *step;
    forget_nodes();
    return client_.refuse_without_connection(request);
  }
  if (const std::optional<Step> first = before_wait(request)) return *first;
  return send(request);
}

// nullopt: WAIT may be sent now.
std::optional<Step> BlockedCommand::before_wait(Request& request) {
  const std::uint8_t writes = request.has_waited() ? request.waited_for().own_writes : 0;
  const std::string error =
      writes > 0 ? std::exchange(request.waited().own_write_error, {}) : std::string();
  if (writes > 0 && error.empty()) return std::nullopt;
  const bool has_moved = topology::parse_redirect(error).has_value();
  if (writes == 0 || (has_moved && writes < kOwnWritesMax)) {
    if (!write_before_wait(*client_.own_connection())) return std::nullopt;
    ++request.waited().own_writes;
    return client_.stall_for(Awaited::kDrain);
  }
  forget_nodes();
  return client_.reply_error("ERR heatsink: " + std::string(request.args()[0]) +
                             " needs a write of the proxy's own before it (SET " +
                             std::string(kKeyBeforeWait) +
                             "), which the server has refused: " + error);
}

// The server refuses the command at once, and all that the proxy would send before it.
bool BlockedCommand::is_refused_to_subscriber() const {
  return state_.subscribed() && state_.protocol_ == resp::Protocol::kResp2;
}

// False: not needed, or the node has no slots, so nothing can be written there.
bool BlockedCommand::write_before_wait(Upstream& connection) {
  if (client_.is_bound() || !state_.written_.has(connection.server())) return false;
  if (!waits_for_own_writes(connection.hello_reply())) return false;
  if (is_refused_to_subscriber()) return false;
  std::string key(kKeyBeforeWait);
  if (const std::shared_ptr<const topology::SlotMap> map = client_.slot_map()) {
    const auto node = parts_.shared.cluster.index_of(connection.server());
    const auto slot = node ? map->slot_of(*node, parts_.shared.next_random()) : std::nullopt;
    if (!slot) return false;
    key = resp::name_in_slot(*slot, key);
  }
  ByteBuffer set;
  resp::append_request(set, {"SET", key, "", "PX", "1"});
  Pending pending;
  pending.session = &client_.requester();
  pending.kind = PendingKind::kOwn;
  pending.of = PartRequest(SessionPart::kOwnWrite);
  client_.own_request_sent();
  connection.send(set.view(), std::move(pending));
  return true;
}

// No request follows a waiting one: after its wait was ended for a client that has left, the server
// would execute that request.
Step BlockedCommand::send(Request& request) {
  if (is_refused_to_subscriber()) return client_.send_on_own(request, {});
  begin(*client_.own_connection(), request);
  client_.send_on_own(request, of(Asked::kCommand));
  client_.stall_for(Awaited::kAnswer);
  return Step::kDone;
}

Pending BlockedCommand::own_request(Asked what) const {
  Pending pending;
  pending.session = &client_.requester();
  pending.kind = PendingKind::kOwn;
  pending.of = of(what);
  return pending;
}

// The reply to the mark arrives when the server has answered all earlier requests. The mark also
// sets the client's name: libraries count waiting clients (workers of a queue) by name in CLIENT
// LIST.
void BlockedCommand::begin(Upstream& connection, const Request& request) {
  const bool ended = client_.presence() != Client::Presence::kHere || client_.has_ended_unread();
  wait_ = std::make_unique<Wait>(CommandUndo(request.args()), ended, parts_.loop.clock());
  if (request.raw.size() <= CarriedSession::kWaitingRequestMax) wait_->keep_request(request.raw);
  ByteBuffer hello;
  if (state_.name_.empty() || state_.introduced_) {
    resp::append_request(hello, {"HELLO"});
  } else {
    redis::append_hello(hello, connection.protocol(), {}, state_.name_);
    client_.lend_name();
  }
  Pending mark = own_request(Asked::kMark);
  mark.reveals_keys = false;
  client_.own_request_sent();
  connection.send(hello.view(), std::move(mark));
}

CarriedSession::Waiting BlockedCommand::carried() const {
  return {wait_->request(), wait_->connection(), client_.own_connection()->is_next_silent()};
}

void BlockedCommand::go_on(const Request& request, const CarriedSession::Waiting& before) {
  wait_ = std::make_unique<Wait>(CommandUndo(request.args()), false, request.now);
  wait_->keep_request(before.request);
  wait_->carry_on(before.connection, request.now);
}

// The node that WAIT asks now.
redis::UpstreamAddress* BlockedCommand::ask_nodes(
    const std::vector<redis::UpstreamAddress*>& nodes) {
  if (nodes_ == nullptr) nodes_ = std::make_unique<NodeWait>(nodes);
  return nodes_->node();
}

std::string BlockedCommand::request_for_time_left() const {
  return with_time_left(wait_->request(), parts_.loop.clock() - wait_->sent_at());
}

// If the client has already left, the reply may still come in this turn: decide at its end.
void BlockedCommand::mark_answered(std::string_view hello) {
  if (!wait_) return;
  wait_->mark_answered(hello, client_.own_connection()->read_at());
  const bool has_ended = client_.presence() != Client::Presence::kHere;
  if (has_ended || is_timed_out_) client_.look_at_end_of_turn();
}

void BlockedCommand::end() {
  if (wait_) act_on(wait_->client_left());
}

void BlockedCommand::pause_is_over() {
  if (wait_) wait_->pause_is_over();
}

void BlockedCommand::unblock_answered(std::string_view reply) {
  if (wait_) act_on(wait_->unblock_answered(reply));
}

void BlockedCommand::act_on(Wait::Next next) {
  switch (next) {
    case Wait::Next::kNothing:
      return;
    case Wait::Next::kRetry:
      client_.call_later(wait_->pause(), Client::Later::kEndOfWait);
      return;
    case Wait::Next::kUnblock:
      if (!unblock()) act_on(wait_->not_sent(parts_.loop.clock()));
      return;
    case Wait::Next::kClose:
      client_.close();
      return;
  }
}

// False: no other connection is ready.
bool BlockedCommand::unblock() {
  Upstream* const connection = client_.connection_beside();  // its user may lack the right
  if (connection == nullptr) return false;
  parts_.count(copies::Count::kWaitsEnded);
  ByteBuffer request;
  const std::string id = std::to_string(wait_->connection());
  const bool has_left = client_.presence() != Client::Presence::kHere || !is_timed_out_;
  resp::append_request(request, {"CLIENT", "UNBLOCK", id, has_left ? "ERROR" : "TIMEOUT"});
  Pending pending = own_request(Asked::kUnblock);
  pending.reveals_keys = false;
  client_.own_request_sent();
  connection->send(request.view(), std::move(pending));
  return true;
}

bool BlockedCommand::keeps_reply(TimePoint read_at, bool silent) {
  if (!wait_) return false;
  if (asks_nodes()) {
    wait_->keep_reply(false);
    return true;
  }
  const bool waited = wait_->has_waited(read_at);
  if (!waited && (silent || !wait_->undo().takes_data())) return false;
  if (client_.presence() == Client::Presence::kHere && !client_.has_ended_unread()) return false;
  if (waited) client_.note_ended();  // a command that did not wait may have others behind it
  wait_->keep_reply(waited);
  return true;
}

bool BlockedCommand::take(const Pending& pending, bool ok, std::string_view kept) {
  switch (static_cast<Asked>(pending.of.what)) {
    case Asked::kCommand:
      return asks_nodes() ? node_answered(pending.ticket, kept) : settle(pending.ticket, kept);
    case Asked::kMark:
      mark_answered(kept);
      return true;
    case Asked::kUnblock:
      unblock_answered(kept);
      return true;
    case Asked::kPutBack:
      put_back_answered(ok, kept);
      return false;
  }
  return true;
}

bool BlockedCommand::lost(const Pending& pending, const std::string& problem) {
  switch (static_cast<Asked>(pending.of.what)) {
    case Asked::kCommand:
      if (asks_nodes()) drop();  // nothing has to be put back
      forget_nodes();
      command_lost(problem);
      return true;
    case Asked::kMark:
      return true;
    case Asked::kUnblock:
      if (!waits()) return true;
      client_.close();
      return false;
    case Asked::kPutBack:
      put_back_answered(false, problem);
      return false;
  }
  return true;
}

bool BlockedCommand::settle(ReplyQueue::Ticket ticket, std::string_view kept) {
  std::unique_ptr<Wait> wait = std::exchange(wait_, nullptr);
  if (!wait || !wait->keeps_reply()) return true;
  resp::Value reply;
  std::size_t used = 0;
  if (resp::parse_value(kept, reply, used) != resp::ValueStatus::kValue) {
    not_put_back("its reply is too large");
    client_.close();
    return false;
  }
  const std::vector<PutBack> requests = wait->undo().requests(reply);
  if (wait->reply_waited()) {
    put_back(requests);
  } else if (requests.empty()) {
    client_.give_part(ticket, kept);
    return true;
  } else {
    offer(std::move(wait), ticket, kept);
  }
  return false;
}

// True: the client has got the joined reply. False: the next node is asked, or the client has left.
bool BlockedCommand::node_answered(ReplyQueue::Ticket ticket, std::string_view reply) {
  const bool has_left = client_.presence() != Client::Presence::kHere;
  if (has_left && waits() && wait_->has_waited(client_.own_connection()->read_at())) {
    client_.close();
    return false;
  }
  if (nodes_->answered(reply)) {
    drop();
    client_.give_part(ticket, std::exchange(nodes_, nullptr)->reply());
    return true;
  }
  std::string rest = request_for_time_left();
  drop();
  client_.ask_node(ticket, std::move(rest), *nodes_->node());
  return false;
}

void BlockedCommand::command_lost(const std::string& problem) {
  const std::unique_ptr<Wait> wait = std::exchange(wait_, nullptr);
  if (wait && wait->keeps_reply()) not_put_back(problem);
}

// Sends one byte to find out whether the client has left or only ended its output: the kernel of a
// client that has left answers with a reset.
void BlockedCommand::offer(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket,
                           std::string_view wire) {
  offered_ = std::make_unique<Offered>(Offered{std::move(wait), ticket, std::string(wire)});
  if (client_.presence() == Client::Presence::kGone) {
    offer_refused();
    return;
  }
  client_.give_part(ticket, wire.substr(0, 1));
  if (!client_.closed()) client_.call_later(kOfferedFor, Client::Later::kOfferTaken);
}

void BlockedCommand::offer_taken() {
  if (!offered_) return;
  const std::unique_ptr<Offered> offered = std::move(offered_);
  client_.give_rest(offered->ticket, std::string_view(offered->wire).substr(1));
}

void BlockedCommand::offer_refused() {
  const std::unique_ptr<Offered> offered = std::move(offered_);
  resp::Value reply;
  std::size_t used = 0;
  resp::parse_value(offered->wire, reply, used);
  put_back(offered->wait->undo().requests(reply));
}

// A server would have closed the connection at once, so no later request of the client is executed.
void BlockedCommand::put_back(std::span<const PutBack> requests) {
  Upstream* const connection = client_.own_connection();
  if (connection == nullptr && !requests.empty()) not_put_back("the connection was lost");
  for (const PutBack& request : connection != nullptr ? requests : std::span<const PutBack>()) {
    Pending pending = own_request(Asked::kPutBack);
    for (const std::string& key : request.keys) {
      const NameHash name = hash_name(key, parts_.shared.seed);
      pending.keys.add({name, in_db(name, state_.db_), true});
    }
    parts_.copies.begin_writes(pending, true);
    client_.own_request_sent();
    ++putting_back_;
    connection->send(request.wire.view(), std::move(pending));
  }
  if (putting_back_ == 0) client_.close();
}

void BlockedCommand::put_back_answered(bool ok, std::string_view error) {
  if (ok) {
    parts_.count(copies::Count::kPutBack);
  } else {
    not_put_back(error);
  }
  if (--putting_back_ == 0) client_.close();
}

void BlockedCommand::not_put_back(std::string_view why) {
  parts_.count(copies::Count::kNotPutBack);
  log_limited(LogLevel::kWarning, "not put back",
              "elements popped for a client that had already left could not be put back: " +
                  std::string(why) + ": compare the list with what the application expects",
              parts_.loop.now());
}

}  // namespace heatsink::proxy
