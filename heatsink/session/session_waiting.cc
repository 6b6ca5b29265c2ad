// SPDX-License-Identifier: Apache-2.0
// Sends commands that may wait on the server (blocked_command.h), and WAIT.
#include <utility>

#include "heatsink/session/session.h"
#include "heatsink/topology/redirect.h"

namespace heatsink::proxy {
namespace {

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
  blocked().begin(connection, request);
  send_on(connection, request, PendingKind::kWaiting, 0);
  stall(Awaited::kAnswer);
  return Step::kDone;
}

BlockedCommand& Session::blocked() {
  if (blocked_ == nullptr) {
    const ClientState& state = *this;
    BlockedCommand::Client& client = *this;
    blocked_ = std::make_unique<BlockedCommand>(parts_, state, client);
  }
  return *blocked_;
}

void Session::end_wait() {
  if (!closed_ && is_blocked() && (input_ended_ || times_out_)) blocked_->end();
}

void Session::retry_end_of_wait() {
  if (blocked_ != nullptr) blocked_->pause_is_over();
  end_wait();
}

void Session::offer_taken() {
  if (!closed_ && is_offering()) blocked_->offer_taken();
}

bool Session::keeps_reply(TimePoint read_at, bool silent) {
  return is_blocked() && blocked_->keeps_reply(read_at, silent, node_wait_ != nullptr);
}

BlockedCommand::Client::Presence Session::presence() const {
  if (client_lost_) return Presence::kGone;
  return input_ended_ ? Presence::kEnded : Presence::kHere;
}

void Session::call_later(Nanos pause, Later what) {
  host_.call_later(*this, pause,
                   what == Later::kEndOfWait ? &Session::retry_end_of_wait : &Session::offer_taken);
}

void Session::give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) {
  put_reply(ticket, bytes);
  end_reply(ticket);
  after_reply();
}

}  // namespace heatsink::proxy
