// SPDX-License-Identifier: Apache-2.0
// Handles a client's input and output: which requests are processed, when reading stops, and how a
// session ends.
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/session/session.h"
#include "heatsink/upstream/held_outputs.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kStalledInputMax =
    64 * 1024;  // bytes read ahead while stalled, to notice that the client leaves
constexpr std::size_t kClusterArgsMax = 1024 * 1024;
constexpr std::size_t kUnsentSoftMax = 1024 * 1024;  // of a streamed request

}  // namespace

Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 std::uint64_t id, std::string_view peer)
    : parts_(parts),
      host_(host),
      id_(id),
      address_(parts.shared.client_names.enter(peer, parts.loop.now())),
      client_(client),
      memory_(parts.shared.memory),
      reliefs_(parts, context()) {
  become_fresh();
}

Session::Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
                 MovedSession&& before)
    : ClientState(std::move(before.state)),
      parts_(parts),
      host_(host),
      id_(before.id),
      address_(before.address),
      client_(client),
      memory_(parts.shared.memory),
      reads_(before.reads),
      others_(before.others),
      reliefs_(parts, context()) {
  traffic_.note_reply_at(before.last_reply_at);
  set_request_limits();
}

void Session::become(User user, std::string_view name) {
  user_ = user;
  user_name_ = user == User::kOther ? name : std::string_view();
  user_hash_ = hash_name(name, parts_.shared.seed).value;
  set_request_limits();
}

// In front of a cluster. A login on one connection is worth nothing at the other nodes, so the
// connection on which a server has checked the password of another user is closed.
void Session::use_servers_of(const redis::Credentials& credentials) {
  const bool is_proxys = parts_.shared.is_own_login(credentials.user);
  client_user_ = is_proxys ? nullptr : parts_.users.of(credentials);
  upstreams_ = is_proxys ? &parts_.upstreams : client_user_->servers;
  become(is_proxys ? User::kShared : User::kOther, credentials.acl_user());
  if (private_ && !has_state())
    give_back(is_proxys && private_->user() == nullptr && private_->protocol() == protocol_ &&
              private_->login() == Upstream::Login::kOwn);
}

void Session::become_fresh() {
  client_user_.reset();
  upstreams_ = &parts_.upstreams;
  become(fresh_user());
  if (user_ == User::kOther && parts_.shared.cluster.is_expected()) use_servers_of({});
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
  parser_.set_limits(user_ == User::kUnauthenticated ? resp::limits_before_auth(limits) : limits);
}

Session::User Session::fresh_user() const {
  const SharedState& shared = parts_.shared;
  if (!shared.upstream_open.load(std::memory_order_relaxed)) return User::kUnauthenticated;
  return shared.credentials().acl_user() == "default" ? User::kShared : User::kOther;
}

Session::~Session() {
  if (moved_out_) return;
  parts_.shared.client_names.leave(address_, parts_.loop.now());
}

void Session::received(std::string_view bytes, TimePoint now) {
  if (leaves_) return;
  parts_.count(copies::Count::kClientReads);
  within_memory([&] { take_requests(bytes, now); });
}

void Session::take_requests(std::string_view bytes, TimePoint now) {
  used_ = true;
  flush_due_ = true;
  if (is_answered() && client_.output().empty())
    waits_since_ = {};  // perhaps without replies (CLIENT REPLY OFF)
  if (input_.empty()) {
    const std::size_t used = consume(bytes, now);
    note_waiting(used, now);
    if (!closed_) input_.append(bytes.substr(used));
  } else {
    input_.append(bytes);
    const std::size_t used = consume(input_.view(), now);
    note_waiting(used, now);
    if (!closed_) input_.consume(used);
  }
  note_memory();
  flush_or_hold();
  choose_reading();
}

// Hits may stand before reads that wait for the server or for a fill: one send will have all of
// them (held_outputs.h).
void Session::flush_or_hold() {
  const bool waits = in_flight() > 0 || waiting_ != nullptr;
  const bool may_hold = waits && !closed_ && !closing_ && !private_ && !client_.output().empty() &&
                        client_.output().size() <= HeldOutputs::kBytesMax;
  if (!may_hold) return flush();
  flush_due_ = false;
  if (held_since_ != TimePoint{}) return;
  held_since_ = parts_.loop.now();
  host_.hold_output(*this);
}

void Session::flush_replies() {
  if (waiting_ != nullptr) return flush_or_hold();
  flush();
}

void Session::send_held(TimePoint since) {
  if (held_since_ == since) flush();
}

// The client waits from now on, unless it already did. An incomplete request is not waited for.
void Session::note_waiting(std::size_t consumed, TimePoint now) {
  const bool waits_by_nature = is_blocked() || in_stream() || subscribed();
  if (waits_by_nature) waits_since_ = {};
  if (waits_by_nature || waits_since_ != TimePoint{}) return;
  if (consumed > 0 || stall_ != Awaited::kNothing) waits_since_ = now;
}

bool Session::is_answered() const {
  return in_flight() == 0 && stall_ == Awaited::kNothing && !throttled_ && again_.empty();
}

// REQUIRES that the client has taken all replies so far.
void Session::note_answered() {
  if (waits_since_ == TimePoint{} || !is_answered()) return;
  parts_.latencies.client.observe(parts_.loop.clock() - std::exchange(waits_since_, {}));
}

void Session::resume() {
  resume_due_ = false;
  end_wait();
  if (closed_) return;
  // A read that is sent again needs the private connection: another request must not take it.
  resumes_after_again_ = !again_.empty();
  if (resumes_after_again_ || waits()) return;  // another event woke it
  within_memory([&] { go_on_with_input(); });
}

void Session::go_on_with_input() {
  stall_ = Awaited::kNothing;
  throttled_ = false;
  const TimePoint now = parts_.loop.clock();
  if (waiting_ != nullptr) look_again(now);
  if (closed_) return;
  const std::size_t used = consume(input_.view(), now);
  if (closed_) return;
  note_waiting(used, now);
  input_.consume(used);
  if (input_.empty()) input_.release();
  flush_or_hold();
  choose_reading();
}

// Retries the waiting request.
void Session::look_again(TimePoint now) {
  std::unique_ptr<Request> request = std::move(waiting_);
  if (closing_) return;
  request->now = now;
  request->is_last = input_.empty();
  if (look_at(*request) == Step::kStall) waiting_ = std::move(request);
}

Step Session::look_at(Request& request) {
  return request.raw.empty() ? begin_oversized(request) : dispatch(request);
}

// Returns the number of processed bytes. Stops early when a request has to wait.
std::size_t Session::consume(std::string_view bytes, TimePoint now) {
  std::size_t used = 0;
  while (used < bytes.size() && !closed_ && !closing_) {
    if (!may_parse()) {
      throttled_ = stall_ == Awaited::kNothing;
      break;
    }
    if (const std::size_t taken = take_gets(bytes.substr(used), now); taken > 0) {
      used += taken;
      continue;
    }
    std::size_t size = 0;
    is_in_batch_ = used > 0;
    const bool more = consume_one(bytes.substr(used), now, size);
    used += size;
    if (!more) break;
  }
  return closed_ || closing_ ? bytes.size() : used;
}

bool Session::consume_one(std::string_view bytes, TimePoint now, std::size_t& used) {
  if (oversized_.is_active()) {
    used = stream_on(bytes);
    return used > 0;
  }
  switch (parser_.parse(bytes)) {
    case resp::ParseStatus::kNeedMore:
      refuse_tls(bytes);
      return false;
    case resp::ParseStatus::kError:
      refuse_input(parser_.error());
      return false;
    case resp::ParseStatus::kOversized:
      if (user_ == User::kUnauthenticated) {
        refuse_input("ERR Protocol error: unauthenticated bulk length");
        return false;
      }
      break;
    case resp::ParseStatus::kRequest:
      used = parser_.size();
      if (parser_.args().empty()) return true;
      if (parser_.is_inline() && refuse_tls(bytes)) return true;
      break;
  }
  Request request(parser_.args(), bytes.substr(0, used));
  request.now = now;
  request.is_last = used == bytes.size();
  request.is_alone = request.is_last && !is_in_batch_;
  // The server gets the multi-bulk form: an inline request may be quoted, or end in a bare LF.
  if (parser_.is_inline()) request.rewrite();
  if (look_at(request) != Step::kStall) return true;
  request.keep();
  waiting_ = std::make_unique<Request>(std::move(request));
  return false;
}

// The client gets its earlier replies, then the error, then the end of the connection. A replica
// would take the error for data, so a server closes its connection without it.
void Session::refuse_input(std::string_view error) {
  parts_.count(copies::Count::kProtocolErrors);
  reply_off_ = reply_skip_ = false;
  if (!replicates_) reply_error(error);
  close_when_flushed();
}

// A TLS ClientHello (RFC 8446, section 5.1) looks like an inline request, mostly one without an
// end.
bool Session::refuse_tls(std::string_view bytes) {
  if (!bytes.starts_with("\x16\x03")) return false;
  log_limited(LogLevel::kWarning, "tls-to-plain",
              "a client uses TLS, but proxy.tls-cert is not set: set it and proxy.tls-key, or "
              "turn TLS off in the client",
              parts_.loop.now());
  refuse_input("ERR Protocol error: this port does not use TLS");
  return true;
}

bool Session::may_parse() const {
  if (holds_input_) return false;
  if (stall_ != Awaited::kNothing || !again_.empty()) return false;
  // Some clients send a million commands before they read. Their replies are buffered, up to a
  // limit.
  if (client_.output().size() + replies_.kept_bytes() > kept_at_most(4)) return false;
  // The proxy's own replies must not come between the parts of a message.
  if (private_ && (private_->unsent() > kUnsentSoftMax || private_->in_message())) return false;
  if (oversized_.is_sent() || mode_ == Mode::kRaw) return true;
  if (owed_ >= kOwedMax) return false;  // other clients would wait for its replies
  return in_flight() < static_cast<std::uint64_t>(parts_.shared.options().pipeline_max);
}

bool Session::may_read() const {
  if (closed_ || closing_ || input_ended_) return false;
  if (leaves_) return true;
  if (holds_input_ || (finishes_ && !reads_while_finishing())) return false;
  return input_.size() < kStalledInputMax || (stall_ == Awaited::kNothing && !throttled_);
}

void Session::choose_reading() {
  if (!closed_) client_.set_reading(may_read());
}

// A client that has only finished sending still gets its replies. But a waiting command is ended at
// once, and a stream that may never end after a moment. A second end of input is the end of the
// connection.
void Session::input_ended(bool broken) {
  const bool lost = broken || input_ended_ || leaves_;
  if (lost && has_no_blocked_command()) {
    close();
    return;
  }
  input_ended_ = true;
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
  client_lost_ = true;
  client_.close();
}

void Session::end_stream() {
  if (in_stream()) close();
}

void Session::finish_if_done() {
  if (closed_ || !(closing_ || input_ended_)) return;
  if (!client_.output().empty() || in_flight() > 0 || traffic_.holds > 0) return;
  if (closing_ || (stall_ == Awaited::kNothing && !throttled_ && again_.empty())) close();
}

void Session::close_when_flushed() {
  closing_ = true;
  flush_later();
}

void Session::close() {
  if (closed_) return;
  closed_ = true;
  if (blocked_ != nullptr) blocked_->close();
  client_.close();
  input_.release();
  replies_.clear();
  again_.clear();
  waiting_.reset();
  memory_.note(0);
  reliefs_.close();
  if (listeners_ != nullptr) listeners_->close();
  heard_.release();
  if (private_) give_back(false);
  if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
}

void Session::writable() {
  flush();
  choose_reading();
}

void Session::flush() {
  flush_due_ = false;
  held_since_ = {};
  if (scattered_ != nullptr) scattered_->free_ended();
  if (closed_ || traffic_.holds > 0) return;
  used_ = true;
  switch (client_.write()) {
    case ClientTransport::Written::kLost:
      input_ended(true);
      return;
    case ClientTransport::Written::kBlocked:
      choose_reading();
      room_available();
      return;
    case ClientTransport::Written::kAll:
      break;
  }
  note_answered();
  note_reply_memory();
  if (private_) private_->pause(false);
  room_available();
  finish_if_done();
}

}  // namespace heatsink::proxy
