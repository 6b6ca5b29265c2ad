// SPDX-License-Identifier: Apache-2.0
// Sends again what a node of a cluster has refused on a private connection, where the connection's
// state or the wait of the command belongs to the request.
#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/command/time_left.h"
#include "heatsink/session/session.h"
#include "heatsink/topology/topology.h"

namespace heatsink::proxy {
namespace {

constexpr std::uint8_t kTakenBackMax = 200;   // redirects of one request
constexpr std::uint8_t kTakenBackAtOnce = 4;  // ... before the first pause
constexpr Nanos kTakenBackPause = Millis(5);  // also after an error that names no node
constexpr Nanos kLaterPauseMax = Millis(50);  // the longest

// The server has ended the wait because its slot or its role has changed: "UNBLOCKED force unblock
// from blocking operation, instance state changed (master -> replica?)". After CLIENT UNBLOCK, of
// an administrator or of the proxy (wait.h), the command is over.
bool is_unblocked(std::string_view line) {
  return line.starts_with("UNBLOCKED ") && line.find("CLIENT UNBLOCK") == std::string_view::npos;
}

// Redis refuses the rest of a transaction with this, after it has refused to queue a command.
bool is_exec_abort(std::string_view line) { return line.starts_with("EXECABORT"); }

}  // namespace

// Requests of the old map are on their way to servers that may not have the slot any more. A
// request of the new map must not overtake them.
bool Session::must_drain_first() {
  const std::uint64_t version = upstreams_->map_version();
  if (version == map_version_) return false;
  if (in_flight() > 0) return true;
  map_version_ = version;
  if (parser_.at_start()) set_request_limits();
  return false;
}

bool Session::takes_back(Pending& pending, std::string_view error) {
  const std::string_view line = topology::error_line(error);
  // The server keeps no state for a command that it does not know. Client libraries try out
  // commands of other servers; that must not bind them to one node.
  if (pending.pins && resp::is_unknown_command(line)) pinned_ = false;
  if (pending.kind == PendingKind::kQueued) return note_queue_error(pending, line);
  const bool is_mine = pending.kind == PendingKind::kWaiting ||
                       pending.kind == PendingKind::kWatch || pending.kind == PendingKind::kExec;
  if (!is_mine || closed_ || closing_) return false;
  std::optional<topology::Redirect> redirect = topology::parse_redirect(line);
  if (pending.kind == PendingKind::kExec && is_exec_abort(line) && queued_ != nullptr) {
    redirect = topology::parse_redirect(queued_->refusal);
    if (!redirect && !queued_->refusal.empty()) return answer_refused(pending);
  }
  if (pending.kind == PendingKind::kWaiting && is_unblocked(line))
    redirect = topology::Redirect{.kind = topology::Redirect::Kind::kTryAgain};
  if (!redirect) return false;
  std::string wire = wire_to_repeat(pending);
  if (wire.empty()) return false;
  parts_.count(copies::Count::kRedirects);
  if (redirect->kind != topology::Redirect::Kind::kMoved)
    parts_.shared.cluster.note_move(parts_.loop.now());
  redis::UpstreamAddress* to = nullptr;
  if (redirect->kind != topology::Redirect::Kind::kTryAgain)
    to = upstreams_->node_named_by(*redirect, *private_);
  if (redirect->kind == topology::Redirect::Kind::kMoved)
    parts_.shared.cluster.is_stale(to == nullptr ? std::nullopt
                                                 : parts_.shared.cluster.index_of(*to));
  if (++taken_back_ > kTakenBackMax) return false;
  if (pending.kind == PendingKind::kExec && queued_->watches) return answer_aborted(pending);
  undo_sending(pending);
  repeat(std::move(wire), to, redirect->kind == topology::Redirect::Kind::kAsk);
  return true;
}

// The bytes of the request, or "" if it cannot be sent again.
std::string Session::wire_to_repeat(const Pending& pending) {
  switch (pending.kind) {
    case PendingKind::kWaiting:
      return is_blocked() && !blocked_->wait().keeps_reply() ? wait_for_time_left() : "";
    case PendingKind::kExec:
      return queued_ == nullptr ? "" : "*1\r\n$4\r\nEXEC\r\n";
    case PendingKind::kWatch:
      return std::exchange(last_state_request_, {});
    default:
      return "";
  }
}

// The request of the command that waits, for the rest of its time. REQUIRES is_blocked().
std::string Session::wait_for_time_left() const {
  const Wait& wait = blocked_->wait();
  return with_time_left(wait.request(), parts_.loop.clock() - wait.sent_at());
}

// As if it had never been sent. It was the last one, because nothing follows such a request.
void Session::undo_sending(Pending& pending) {
  parts_.copies.settle(pending, this, parts_.loop.clock(), copies::Shown::kNothing);
  ++traffic_.received;
  owed_ -= pending.expected;
  replies_.take_back(pending.ticket);
  if (blocked_ != nullptr) blocked_->drop();
  if (pending.kind == PendingKind::kWatch) watching_ = false;
  if (pending.kind == PendingKind::kExec) {
    in_multi_ = true;
    transaction_ = std::move(pending.keys);
    transaction_unknown_ = pending.unknown_keys;
    if (pending.spread != nullptr) transaction_spread_ = std::move(*pending.spread);
    transaction_flush_ = pending.flush;
    transaction_changes_access_ = pending.changes_access;
  }
}

// Looks at the request again, at the end of this turn or after a pause.
void Session::repeat(std::string&& wire, redis::UpstreamAddress* to, bool asking) {
  resp::RequestParser parser(resp::limits_for(wire.size()));
  static_cast<void>(parser.parse(std::string_view(wire)));
  auto request = std::make_unique<Request>(parser.args(), wire);
  request->keep();
  request->waited().redirected_to = to;
  request->waited().asking = asking;
  waiting_ = std::move(request);
  stall_ = Awaited::kPause;
  // While a replica becomes master, both nodes may name each other for a while.
  if (to != nullptr && taken_back_ <= kTakenBackAtOnce) return resume_later();
  const Nanos pause =
      std::min<Nanos>(kTakenBackPause * std::max<int>(taken_back_, 1), kLaterPauseMax);
  host_.call_later(*this, pause, &Session::end_pause);
}

void Session::end_pause() {
  if (!closed_ && stall_ == Awaited::kPause) resume_later();
}

// A watched key may have been on the node that no longer has the slot, so the transaction counts as
// one whose watched key has changed: the client starts again.
bool Session::answer_aborted(Pending& pending) {
  ByteBuffer wire;
  protocol_ == resp::Protocol::kResp3 ? resp::append_null(wire, protocol_) : wire.append("*-1\r\n");
  return answer_exec(pending, wire);
}

// The client was told QUEUED for a command that the server has refused, so EXEC says why.
bool Session::answer_refused(Pending& pending) {
  ByteBuffer wire;
  resp::append_error(wire, "EXECABORT Transaction discarded because of: " + queued_->refusal);
  return answer_exec(pending, wire);
}

bool Session::answer_exec(Pending& pending, const ByteBuffer& wire) {
  parts_.copies.settle(pending, this, parts_.loop.clock(), copies::Shown::kNothing);
  ++traffic_.received;
  owed_ -= pending.expected;
  queued_.reset();
  if (!pending.silent) put_reply(pending.ticket, wire.view());
  end_reply(pending.ticket);
  after_reply();
  return true;
}

}  // namespace heatsink::proxy
