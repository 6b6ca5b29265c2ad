// SPDX-License-Identifier: Apache-2.0
// Handles a client's life: what it sends, when reading stops, how much memory it may use, and how
// it ends.
#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kClusterArgsMax = 1024 * 1024;
constexpr std::size_t kUnsentSoftMax = 1024 * 1024;  // of a streamed request

constexpr std::size_t kBusyBytes = 4096;  // of each buffer of a client that works

}  // namespace

Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 std::uint64_t id, std::uint32_t address, ClientState&& state,
                 const ExpectedReplies& replies_ahead)
    : ClientState(std::move(state)),
      parts_(parts),
      host_(host),
      id_(id),
      client_(client),
      address_(address),
      memory_(parts.shared.memory),
      replies_ahead_(replies_ahead),
      servers_(parts, *this, traffic_, *this),
      input_(*this),
      output_(parts, client, servers_, traffic_, *this),
      reliefs_(parts, context()) {}

Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 std::uint64_t id, std::string_view peer)
    : Session(parts, host, client, id, parts.shared.client_names.enter(peer, parts.loop.now()),
              ClientState()) {
  identity().become_fresh();
}

Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 MovedSession&& before)
    : Session(parts, host, client, before.id, before.address, std::move(before.state),
              before.replies_ahead) {
  traffic_.note_reply_at(before.last_reply_at);
  set_request_limits();
}

void Session::set_request_limits() {
  resp::RequestLimits limits;
  limits.buffered_bytes_max = parts_.shared.options().stream_threshold.count;
  // A node of a cluster may refuse the request. The proxy can send it again if it has the bytes.
  if (parts_.shared.cluster.is_expected()) {
    limits.buffered_bytes_max = std::max<std::size_t>(
        limits.buffered_bytes_max, parts_.shared.options().client_output_max.count);
    limits.buffered_args_max = kClusterArgsMax;
  }
  input_.set_limits(limits, user_ == User::kUnauthenticated);
}

Session::~Session() {
  if (life_ == Life::kMovedOut) return;
  parts_.shared.client_names.leave(address_, parts_.loop.now());
}

void Session::received(std::string_view bytes, TimePoint now) {
  if (drain_ == Drain::kLeaves) return;
  parts_.count(copies::Count::kClientReads);
  within_memory([&] { take_requests(bytes, now); });
  note_commands();
}

void Session::take_requests(std::string_view bytes, TimePoint now) {
  used_ = true;
  output_.flush_follows();
  if (is_answered() && !output_.has_unsent())
    waits_since_ = {};  // perhaps without replies (CLIENT REPLY OFF)
  note_waiting(input_.take(bytes, now), now);
  note_memory();
  flush_or_hold();
  choose_reading();
}

void Session::flush_or_hold() {
  const bool waits = in_flight() > 0 || input_.waiting() != nullptr;
  const bool may_hold = waits && life_ == Life::kServes;
  if (!may_hold || !output_.hold()) flush();
}

void Session::flush_replies() {
  if (input_.waiting() != nullptr) return flush_or_hold();
  flush();
}

void Session::flush_slice() {
  if (output_.at_slice()) flush();
}

void Session::send_held(TimePoint since) {
  if (output_.is_held_since(since)) flush();
}

// The client waits from now on, unless it already did. An incomplete request is not waited for.
void Session::note_waiting(std::size_t consumed, TimePoint now) {
  const bool waits_by_nature = is_blocked() || in_stream() || subscribed();
  if (waits_by_nature) waits_since_ = {};
  if (waits_by_nature || waits_since_ != TimePoint{}) return;
  if (consumed > 0 || input_.awaited() != Awaited::kNothing) waits_since_ = now;
}

bool Session::is_answered() const {
  return in_flight() == 0 && input_.waits_for_nothing() && !repeats();
}

// REQUIRES that the client has taken all replies so far.
void Session::note_answered() {
  if (waits_since_ == TimePoint{} || !is_answered()) return;
  parts_.latencies.client.observe(parts_.loop.clock() - std::exchange(waits_since_, {}));
}

void Session::resume() {
  resume_due_ = false;
  end_wait();
  if (closed()) return;
  // A read that is sent again needs the private connection: another request must not take it.
  if (repeats()) return repeated_->resume_after();
  if (repeated_ != nullptr) repeated_->resumed();
  if (waits()) return;  // another event woke it
  within_memory([&] { go_on_with_input(); });
  note_commands();
}

void Session::go_on_with_input() {
  const TimePoint now = parts_.loop.clock();
  const std::size_t used = input_.go_on(now);
  if (closed()) return;
  note_waiting(used, now);
  flush_or_hold();
  choose_reading();
}

// The client gets its earlier replies, then the error, then the end of the connection. A replica
// would take the error for data, so a server closes its connection without it.
void Session::refuse(std::string_view error) {
  parts_.count(copies::Count::kProtocolErrors);
  reply_off_ = reply_skip_ = false;
  if (!replicates_) reply_error(error);
  close_when_flushed();
}

void Session::refuse_tls() {
  log_limited(LogLevel::kWarning, "tls-to-plain",
              "a client uses TLS, but proxy.tls-cert is not set: set it and proxy.tls-key, or "
              "turn TLS off in the client",
              parts_.loop.now());
  refuse("ERR Protocol error: this port does not use TLS");
}

bool Session::may_take() const {
  if (repeats()) return false;
  // Some clients send a million commands before they read. Their replies are buffered, up to a
  // limit.
  if (output_.is_long()) return false;
  // The proxy's own replies must not come between the parts of a message.
  if (own() != nullptr && (own()->unsent() > kUnsentSoftMax || own()->in_message())) return false;
  if (input_.oversized().is_sent() || is_raw()) return true;
  if (replies_ahead_.owes_too_much()) return false;  // other clients would wait for its replies
  return in_flight() < static_cast<std::uint64_t>(parts_.shared.options().pipeline_max);
}

bool Session::may_read() const {
  if (life_ != Life::kServes || presence_ != Presence::kHere) return false;
  if (drain_ == Drain::kLeaves) return true;
  if (input_.is_held() || (drain_ == Drain::kFinishes && !reads_while_finishing())) return false;
  return !input_.is_full();
}

void Session::choose_reading() {
  if (!closed()) client_.set_reading(may_read());
}

// A client that has only finished sending still gets its replies. But a waiting command is ended at
// once, and a stream that may never end after a moment. A second end of input is the end of the
// connection.
void Session::input_ended(bool broken) {
  const bool lost = broken || presence_ != Presence::kHere || drain_ == Drain::kLeaves;
  if (lost && has_no_blocked_command()) {
    close();
    return;
  }
  note_ended();
  if (lost) forget_client();
  if (lost && is_offering()) blocked_->offer_refused();
  if (in_stream()) host_.call_later(*this, kStreamEndTime, &Session::end_stream);
  // No server has the request, and none should execute it later for a client that has left.
  if (awaits_server()) close_when_flushed();
  end_wait();
  finish_if_done();
  choose_reading();
}

// The client is certainly gone, but the server still has to end or undo a command for it.
void Session::forget_client() {
  presence_ = Presence::kGone;
  client_.close();
}

void Session::end_stream() {
  if (in_stream()) close();
}

void Session::finish_if_done() {
  if (closed() || (!is_closing() && presence_ == Presence::kHere)) return;
  if (output_.has_unsent() || in_flight() > 0 || traffic_.holds > 0) return;
  if (is_closing() || (input_.waits_for_nothing() && !repeats())) close();
}

void Session::close_when_flushed() {
  if (life_ == Life::kServes) {
    life_ = Life::kClosing;
    if (near_ != nullptr) near_->end_all_now();
  }
  output_.flush_later();
}

// A library may go on with what it keeps until it has something to ask: Jedis does not see that a
// connection has ended. So the proxy tells the client, if it takes the pushes at once, and if no
// reply in front of them is held back.
void Session::end_near_names_at_once() {
  const bool hears = presence_ == Presence::kHere && drain_ != Drain::kLeaves;
  if (near_ == nullptr || !hears || traffic_.holds > 0) return;
  near_->end_all_now();
  if (!closed() && output_.has_unsent()) static_cast<void>(client_.write());
}

void Session::close() {
  if (life_ == Life::kServes) {
    life_ = Life::kClosing;
    end_near_names_at_once();
  }
  if (closed()) return;
  life_ = Life::kClosed;
  if (blocked_ != nullptr) blocked_->close();
  client_.close();
  input_.close();
  output_.close();
  if (repeated_ != nullptr) repeated_->close();
  memory_.note(0);
  reliefs_.close();
  if (subscriptions_ != nullptr) subscriptions_->close();
  if (near_ != nullptr) near_->stop();
  servers_.give_back(false);
  if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
}

void Session::writable() {
  flush();
  choose_reading();
}

void Session::flush() {
  if (scattered_ != nullptr) scattered_->free_ended();
  const std::optional<ClientTransport::Written> written = output_.flush();
  if (!written) return;
  used_ = true;
  switch (*written) {
    case ClientTransport::Written::kLost:
      input_ended(true);
      return;
    case ClientTransport::Written::kBlocked:
      choose_reading();
      room_available();
      return;
    case ClientTransport::Written::kAll:
      note_answered();
      room_available();
      finish_if_done();
  }
}

// ---- memory, as a part of proxy.maximum-memory

void Session::note_memory() {
  if (closed()) return;
  if (memory_.note(buffer_bytes()) && parts_.shared.memory.is_exhausted()) host_.shed_later();
}

// A client that is idle keeps only its state. One that works keeps its small buffers; it gets new
// large ones once a second at most, which is nothing beside the work that fills them.
void Session::shrink() {
  if (closed()) return;
  const bool idle = !std::exchange(used_, false);
  const std::size_t kept = idle ? 0 : kBusyBytes;
  const bool is_quiet = idle && input_.waiting() == nullptr && !in_stream();
  input_.shrink(kept, is_quiet);
  output_.shrink(kept, is_quiet);
  if (is_quiet) reliefs_.shrink();
  if (idle && own() != nullptr) own()->shrink();
  if (idle && in_flight() == 0) {
    if (subscriptions_ != nullptr && subscriptions_->is_at_rest()) subscriptions_.reset();
    if (transaction_ != nullptr && transaction_->is_at_rest()) transaction_.reset();
    if (blocked_ != nullptr && blocked_->is_at_rest()) blocked_.reset();
    if (input_.waiting() == nullptr) refused_.reset();
    if (repeated_ != nullptr && repeated_->empty() && !repeated_->is_resume_due())
      repeated_.reset();
  }
  note_memory();
}

void Session::out_of_memory() {
  parts_.count(copies::Count::kClientsOutOfMemory);
  log_limited(LogLevel::kWarning, "out-of-memory",
              "out of memory for the replies of a client, so the client was closed; lower "
              "proxy.maximum-memory",
              parts_.loop.now());
  close();
}

// ---- while the proxy drains

Stay Session::stays() const {
  if (drain_ == Drain::kLeaves) return Stay::kClosing;
  if (is_blocked()) return Stay::kWait;
  if (in_multi_ || watching_) return Stay::kTransaction;
  const bool is_owed = !is_answered() || traffic_.holds > 0 || !output_.is_at_rest() || resume_due_;
  const bool is_busy = input_.waiting() != nullptr || !has_no_blocked_command() ||
                       input_.oversized().is_active() || is_closing();
  if (is_owed || is_busy) return Stay::kReplies;
  const bool hears = subscribed() || receives_messages() || is_raw();
  return hears ? Stay::kSubscription : Stay::kAtRest;
}

void Session::finish() {
  if (drain_ == Drain::kNone) drain_ = Drain::kFinishes;
  choose_reading();
}

// Requests that still arrive would run on a connection whose replies no client reads.
bool Session::reads_while_finishing() const {
  return in_multi_ || watching_ || is_blocked() || subscribed() || in_stream();
}

void Session::leave() {
  if (closed() || drain_ == Drain::kLeaves) return;
  end_near_names_at_once();
  if (closed() || output_.has_unsent()) return close();
  drain_ = Drain::kLeaves;
  if (subscriptions_ != nullptr) subscriptions_->close();  // no message may follow the end
  servers_.give_back(false);
  input_.release();
  client_.end_output();
  client_.set_reading(true);  // to see the client's end
}

void Session::end_wait_as_timed_out() {
  if (closed() || !is_blocked()) return;
  blocked_->end_as_timed_out();
}

}  // namespace heatsink::proxy
