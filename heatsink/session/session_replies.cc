// SPDX-License-Identifier: Apache-2.0
// Handles replies: their order, the state that they change, and clients that do not read them.
#include <algorithm>
#include <utility>

#include "heatsink/command/failure_text.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

// Unwritten bytes of one big reply at which the private connection is paused.
constexpr std::size_t kPauseAt = 1024 * 1024;

// The client did not send this request.
bool sent_unasked(PendingKind kind) {
  return kind == PendingKind::kSelect || kind == PendingKind::kMark ||
         kind == PendingKind::kUnblock || kind == PendingKind::kQueued ||
         kind == PendingKind::kOwnWrite;
}

// The text of an error reply, without '-' and the end of the line.
std::string_view error_text(std::string_view wire) {
  return wire.substr(std::min<std::size_t>(1, wire.size()))
      .substr(0, wire.find_first_of("\r\n") - 1);
}

}  // namespace

void Session::take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (!closed_) within_memory([&] { put_reply(ticket, bytes); });
}

void Session::take_private(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (closed_) return;
  if (mode_ == Mode::kRaw && reply_off_) return;  // CLIENT REPLY OFF also drops a stream
  within_memory([&] {
    ticket == ReplyQueue::kNone ? put_out(bytes) : put_reply(ticket, bytes);
    close_if_output_full();
  });
}

// The proxy cannot hold back a server's messages without losing them, so it closes a client with
// too much unread output. Replies can be held back or sent again; a reply that allows neither is
// not dropped for its size.
void Session::close_if_output_full() {
  if (closed_ || client_.output().size() <= parts_.shared.options().client_output_max.count) return;
  parts_.count(copies::Count::kClientsCutOff);
  close();
}

void Session::put_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (closed_) return;
  replies_.put(ticket, bytes, client_.output());
  note_output();
}

void Session::end_reply(ReplyQueue::Ticket ticket) {
  if (closed_ || ticket == ReplyQueue::kNone) return;
  ByteBuffer& output = client_.output();
  const std::size_t before = output.size();
  replies_.end(ticket, output);
  if (output.size() != before) note_output();
}

void Session::add_reply(std::string_view wire) {
  if (closed_) return;
  replies_.add(wire, client_.output());
  note_output();
}

void Session::put_out(std::string_view bytes) {
  if (closed_) return;
  client_.output().append(bytes);
  note_output();
}

void Session::note_output() {
  flush_later();
  note_reply_memory();
  if (!private_) return;
  const std::size_t waiting_max = private_->in_big_reply() ? kPauseAt : kept_at_most(4);
  if (client_.output().size() > std::min(waiting_max, kept_at_most(4))) private_->pause(true);
}

bool Session::congested() const {
  return client_.output().size() + replies_.kept_bytes() > kept_at_most(2);
}

void Session::serve(std::string_view wire) {
  parts_.count(copies::Count::kCommands);
  if (!take_silence()) add_reply(wire);
}

Step Session::reply(std::string_view wire) {
  parts_.count(copies::Count::kCommands);
  if (!take_silence()) add_reply(wire);
  return Step::kDone;
}

Step Session::reply_error(std::string_view text) {
  if (closing_) return Step::kDone;  // upstream.on-down: close: only earlier replies follow
  ByteBuffer wire;
  resp::append_error(wire, text);
  return reply(wire.view());
}

void Session::reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                         std::string_view kept) {
  ++traffic_.received;
  owed_ -= pending.expected;
  if (closed_) {
    if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return;
  }
  within_memory([&] {
    if (!settle_state(pending, ok, reply, kept)) return;
    if (pending.rewritten) put_rewritten(pending, kept);
    end_reply(pending.ticket);
    after_reply();
  });
}

void Session::take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at) {
  if (pending.reveals_keys) note_reply_at(read_at);
  if (pending.sized_as != 0) note_reply_size(pending, bytes.size());
  ++traffic_.received;
  owed_ -= pending.expected;
  if (closed_) {
    if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return;
  }
  within_memory([&] {
    replies_.put_whole(pending.ticket, bytes, client_.output());
    note_output();
    after_reply();
  });
}

// The reply to what could have been sent again to another node of the cluster.
void Session::forget_repeat(PendingKind kind) {
  if (kind == PendingKind::kExec) queued_.reset();
  if (kind == PendingKind::kWatch) last_state_request_.clear();
  const bool was_repeatable =
      kind == PendingKind::kExec || kind == PendingKind::kWatch || kind == PendingKind::kWaiting;
  if (was_repeatable) taken_back_ = 0;
}

void Session::select_refused(std::string_view why) {
  if (private_) private_->set_db(Upstream::kUnknownDb);
  if (!again_.empty()) {
    again_.front().error = why;
  } else if (waiting_ != nullptr) {
    waiting_->waited().db_error = why;
  }
}

// False: the client's reply is decided later, or the client has left.
bool Session::settle_state(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                           std::string_view kept) {
  forget_repeat(pending.kind);
  switch (pending.kind) {
    case PendingKind::kSelect:
      if (!ok) select_refused(error_text(kept));
      break;
    case PendingKind::kSelectDb:
      if (ok) {
        db_ = pending.number;
      } else if (private_) {
        // The database did not change, and another SELECT could be refused, too.
        private_->set_db(db_);
      }
      break;
    case PendingKind::kAuth:
      authenticated(pending, ok);
      break;
    case PendingKind::kSubscribe:
      subscription_done(ok);
      break;
    case PendingKind::kMulti:
      if (!ok) in_multi_ = false;
      break;
    case PendingKind::kExec:
      executed(ok, reply, kept);
      break;
    case PendingKind::kMonitor:
      if (ok && private_) {
        private_->relay_raw({});
        mode_ = Mode::kRaw;
      }
      break;
    case PendingKind::kAgain:
      again_.pop_front();  // after_reply() sends the next one
      break;
    case PendingKind::kMark:
      blocked_->mark_answered(kept);
      break;
    case PendingKind::kOwnWrite:
      if (!ok && waiting_ != nullptr) waiting_->waited().own_write_error = error_text(kept);
      break;
    case PendingKind::kWaiting:
      if (node_wait_ != nullptr && !end_node_wait(pending, kept)) return false;
      return blocked_->settle(pending.ticket, kept);
    case PendingKind::kUnblock:
      blocked_->unblock_answered(kept);
      break;
    case PendingKind::kPutBack:
      blocked_->put_back_answered(ok, kept);
      return false;
    default:
      break;
  }
  return true;
}

void Session::subscription_done(bool ok) {
  if (subscribing_.empty()) return;
  const Subscribing& done = subscribing_.front();
  if (ok) {
    receives_messages_ = done.receives_after;
  } else {
    for (const std::string& name : done.added) done.channels->erase(name);
  }
  subscribing_.pop_front();
}

// An aborted EXEC answers null, and none of the queued commands has run. `wire` is empty unless
// needs_exec_reply(), or if the reply is very long: then all commands count as executed.
void Session::executed(bool ok, const resp::ReplyScanner& reply, std::string_view wire) {
  const std::vector<QueuedSubscription> queued = std::exchange(transaction_channels_, {});
  const std::optional<QueuedHello> hello = std::exchange(transaction_hello_, std::nullopt);
  const bool named = std::exchange(transaction_names_, false);
  const bool aborted = !ok || reply.announced() < 0 || reply.type() == '_';
  resp::Value replies;
  std::size_t used = 0;
  if (!wire.empty()) static_cast<void>(resp::parse_value(wire, replies, used));
  const auto is_done = [&](std::size_t index) {
    return index >= replies.items.size() || !replies.items[index].is_error();
  };
  if (!aborted && named) name_owed_ = false;
  if (!aborted && hello && is_done(hello->index)) {
    protocol_ = hello->protocol;
    if (private_) private_->set_protocol(protocol_);
  }
  if (!in_multi_) introduce_if_owed();
  if (aborted) return;
  for (const QueuedSubscription& each : queued) {
    if (!is_done(each.index)) continue;
    if (each.adds) {
      each.channels->insert(each.name);
    } else {
      each.channels->erase(each.name);
    }
  }
  if (!queued.empty()) receives_messages_ = subscribed();
}

void Session::after_reply() {
  if (closed_ || is_offering()) return;
  if (in_flight() == 0) {
    if (!in_multi_) traffic_.forget();
    if (!again_.empty()) {
      ask_next_again();
    } else if (private_ && may_leave_private() && stall_ != Awaited::kDrain) {
      give_back(true);
    }
    const bool is_due = again_.empty() && resumes_after_again_;
    if (stall_ == Awaited::kDrain || stall_ == Awaited::kAnswer || is_due) resume_later();
    if (closing_ || input_ended_) flush_later();
  }
  room_available();
}

void Session::authenticated(const Pending& pending, bool ok) {
  const std::unique_ptr<LoginAsked> asked = std::move(login_asked_);
  if (!ok) {
    // Has_state(): its WATCHes are on this connection.
    if (private_ && !has_state()) give_back(false);
    return;
  }
  if (pending.number != 0) {
    protocol_ = pending.number == 3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
    if (private_) private_->set_protocol(protocol_);
  }
  if (asked->name) name_ = *asked->name;
  const std::string& user = asked->credentials.user;
  if (user.empty()) return;
  if (parts_.shared.cluster.is_expected()) {
    if (private_ && asked->name) introduced_ = true;
    // The cluster was found, or others logged in, while the server checked the password.
    if ((has_state() && !is_user(user)) || !parts_.users.has_room_for(asked->credentials))
      return close_when_flushed();
    use_servers_of(asked->credentials);
    return;
  }
  // Without a password of its own, the proxy cannot open connections for this user that need one.
  const bool was_other = user_ == User::kOther;
  if (parts_.shared.is_own_login(user)) {
    become(User::kShared);
    if (private_ && !pinned_) {
      private_->set_login(Upstream::Login::kOwn);  // the connection now has the proxy's login
      introduced_ =
          introduced_ || was_other || asked->name.has_value();  // the client may have named it
      if (!has_state()) give_back(private_->protocol() == protocol_);
    }
  } else {
    become(User::kOther, user);
    if (!was_other && !introduced_) introduce();
    private_->set_login(Upstream::Login::kNone);  // it has the proxy's no longer
    follow_protocol();
  }
}

// A connection that was opened to check a password speaks RESP2, whatever the client speaks.
void Session::follow_protocol() {
  if (private_->protocol() == protocol_) return;
  private_->send_own({"HELLO", protocol_ == resp::Protocol::kResp3 ? "3" : "2"});
  private_->set_protocol(protocol_);
}

// A shared connection failed: each request in flight on it gets its own error.
void Session::reply_lost(Pending& pending, bool begun, const std::string& problem) {
  ++traffic_.received;
  owed_ -= pending.expected;
  note_reply_at(parts_.loop.clock());
  if (closed_) {
    if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return;
  }
  if (pending.kind == PendingKind::kPutBack) {
    blocked_->put_back_answered(false, problem);
    return;
  }
  if (pending.kind == PendingKind::kWaiting) {
    node_wait_ == nullptr ? blocked_->lost(problem) : blocked_->drop();
    node_wait_.reset();
  }
  if (pending.kind == PendingKind::kExec) queued_.reset();
  if (pending.kind == PendingKind::kUnblock && is_blocked()) {
    close();
    return;
  }
  parts_.count(copies::Count::kUpstreamErrors);
  const bool needs_no_error = pending.silent || sent_unasked(pending.kind);
  const bool half_sent = begun && !needs_no_error;  // a part of the reply cannot be taken back
  if (half_sent || has_state()) {  // closes a client whose state was lost with the connection
    close();
    return;
  }
  fail_in_flight(pending, problem, !needs_no_error);
}

// The reply to what was sent, or was on its way, will not come (upstream.on-down).
void Session::fail_in_flight(const Pending& pending, const std::string& problem, bool is_heard) {
  if (closes_when_down()) return close_when_flushed();
  const bool is_harmless = pending.read_only || pending.is_unexecuted;
  ByteBuffer error;
  resp::append_error(error, is_harmless ? not_executed(problem) : perhaps_executed(problem));
  if (pending.kind == PendingKind::kAgain) again_.pop_front();
  if (is_heard) put_reply(pending.ticket, error.view());
  end_reply(pending.ticket);
  after_reply();
}

void Session::ask_again(std::string_view request, const Pending& pending) {
  parts_.count(copies::Count::kReissued);
  Again& again = again_.emplace_back();
  again.ticket = pending.ticket;
  again.request = request;
  again.keys.append(pending.keys);
}

void Session::room_available() {
  if (closed_) return;
  hand_on_heard();
  if (throttled_ && may_parse()) resume_later();
}

}  // namespace heatsink::proxy
