// SPDX-License-Identifier: Apache-2.0
// The client's socket: what is read, when reading stops, what is written, when it is cut off.
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kStalledInputMax =
    64 * 1024;  // read ahead while stalled, to see the client go
constexpr std::size_t kUnsentSoftMax = 1024 * 1024;  // of a streamed request

}  // namespace

Session::Session(Worker& worker, std::uint64_t id, net::Stream socket, std::string_view peer)
    : worker_(worker),
      id_(id),
      address_(worker.shared().client_names.enter(peer, worker.loop().now())),
      socket_(std::move(socket)),
      memory_(worker.shared().memory),
      reliefs_(worker.parts(), context()) {
  become(fresh_user());
}

void Session::become(User user, std::string_view name) {
  user_ = user;
  user_hash_ = hash_name(name, worker_.shared().seed).value;
  resp::RequestLimits limits;
  limits.buffered_bytes_max = worker_.shared().options.stream_threshold.count;
  parser_.set_limits(user == User::kNobody ? resp::limits_before_auth(limits) : limits);
}

Session::User Session::fresh_user() const {
  const SharedState& shared = worker_.shared();
  if (!shared.upstream_open.load(std::memory_order_relaxed)) return User::kNobody;
  return shared.credentials.acl_user() == "default" ? User::kShared : User::kOther;
}

Session::~Session() { worker_.shared().client_names.leave(address_, worker_.loop().now()); }

void Session::start() {
  if (!worker_.loop().add(socket_.fd(), net::Interest::kRead, *this).ok()) {
    socket_.close();
    closed_ = true;
    worker_.bury(*this);
  }
}

void Session::on_readable() {
  if (closed_) return;
  const net::IoResult result = socket_.read(worker_.scratch(), Upstream::kScratchBytes);
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) {
    on_end_of_input(result.error_number != 0 || input_ended_);
    return;
  }
  take_input({worker_.scratch(), result.bytes});
}

void Session::take_input(std::string_view bytes) {
  within_memory([&] { take_requests(bytes); });
}

void Session::take_requests(std::string_view bytes) {
  // Read after the bytes were: every request in them was sent before this moment (architecture.md).
  const TimePoint now = worker_.loop().clock();
  flush_due_ = true;
  if (is_answered() && output_.empty()) waits_since_ = {};  // silently, perhaps (CLIENT REPLY OFF)
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
  flush();
  set_interest();
}

// The client waits from now on, unless it did before; half a request is nothing to wait for.
void Session::note_waiting(std::size_t consumed, TimePoint now) {
  const bool waits_by_nature = wait_ != nullptr || mode_ != Mode::kNormal || subscribed();
  if (waits_by_nature) waits_since_ = {};
  if (waits_by_nature || waits_since_ != TimePoint{}) return;
  if (consumed > 0 || stall_ != Awaited::kNothing) waits_since_ = now;
}

bool Session::is_answered() const {
  return in_flight() == 0 && stall_ == Awaited::kNothing && !throttled_ && again_.empty();
}

// REQUIRES that all replies so far have been taken.
void Session::note_answered() {
  if (waits_since_ == TimePoint{} || !is_answered()) return;
  worker_.observe().client.observe(worker_.loop().clock() - std::exchange(waits_since_, {}));
}

void Session::resume() {
  resume_due_ = false;
  end_wait();
  if (closed_) return;
  if (waits()) return;  // woken for something else
  within_memory([&] { go_on_with_input(); });
}

void Session::go_on_with_input() {
  stall_ = Awaited::kNothing;
  throttled_ = false;
  const TimePoint now = worker_.loop().clock();
  if (waiting_ != nullptr) look_again(now);
  if (closed_) return;
  const std::size_t used = consume(input_.view(), now);
  if (closed_) return;
  note_waiting(used, now);
  input_.consume(used);
  if (input_.empty()) input_.release();
  flush();
  set_interest();
}

// At the request that waits.
void Session::look_again(TimePoint now) {
  std::unique_ptr<Request> request = std::move(waiting_);
  if (closing_) return;
  request->now = now;
  request->is_last = input_.empty();
  if (look_at(*request) == Step::kStall) waiting_ = std::move(request);
}

Session::Step Session::look_at(Request& request) {
  return request.raw.empty() ? begin_oversized(request) : dispatch(request);
}

// How many of the bytes are done with. Stops early when a request has to wait.
std::size_t Session::consume(std::string_view bytes, TimePoint now) {
  std::size_t used = 0;
  while (used < bytes.size() && !closed_ && !closing_) {
    if (!may_parse()) {
      throttled_ = stall_ == Awaited::kNothing;
      break;
    }
    std::size_t size = 0;
    const bool more = consume_one(bytes.substr(used), now, size);
    used += size;
    if (!more) break;
  }
  return closed_ || closing_ ? bytes.size() : used;
}

bool Session::consume_one(std::string_view bytes, TimePoint now, std::size_t& used) {
  if (mode_ == Mode::kStreaming || mode_ == Mode::kDiscarding) {
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
      if (user_ == User::kNobody) {
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
  // The server is given the multi-bulk form: an inline request may be quoted, or end in a bare LF.
  if (parser_.is_inline()) request.rewrite();
  if (look_at(request) != Step::kStall) return true;
  request.keep();
  waiting_ = std::make_unique<Request>(std::move(request));
  return false;
}

// Replies first, then the error and the end.
void Session::refuse_input(std::string_view error) {
  worker_.count().add(Count::kProtocolErrors);
  reply_off_ = reply_skip_ = false;
  reply_error(error);
  close_when_flushed();
}

// A hello of TLS (RFC 8446, section 5.1) is an inline request to us, and mostly one without an end.
bool Session::refuse_tls(std::string_view bytes) {
  if (!bytes.starts_with("\x16\x03")) return false;
  log_limited(LogLevel::kWarning, "tls-to-plain",
              "a client uses TLS, but proxy.tls-cert is not set", worker_.loop().now());
  refuse_input("ERR Protocol error: this port does not use TLS");
  return true;
}

bool Session::may_parse() const {
  if (stall_ != Awaited::kNothing || !again_.empty()) return false;
  // Clients are known to send a million commands before they read: what that makes is kept, in
  // reason.
  if (output_.size() + replies_.kept_bytes() > kept_at_most(4)) return false;
  // Nothing of ours may come between the parts of a message.
  if (private_ && (private_->unsent() > kUnsentSoftMax || private_->in_message())) return false;
  if (mode_ == Mode::kStreaming || mode_ == Mode::kRaw) return true;
  if (owed_ >= kOwedMax) return false;  // others would wait for its replies
  return in_flight() < static_cast<std::uint64_t>(worker_.shared().options.pipeline_max);
}

bool Session::may_read() const {
  if (closed_ || closing_ || input_ended_) return false;
  return input_.size() < kStalledInputMax || (stall_ == Awaited::kNothing && !throttled_);
}

void Session::set_interest() {
  if (closed_ || !socket_) return;
  const auto read =
      static_cast<std::uint32_t>(may_read() ? net::Interest::kRead : net::Interest::kNone);
  const auto write =
      static_cast<std::uint32_t>(write_blocked_ ? net::Interest::kWrite : net::Interest::kNone);
  worker_.loop().change(socket_.fd(), static_cast<net::Interest>(read | write));
}

// A client that has only finished sending still gets its replies; but a command that waits is ended
// at once, and a stream that may never end after a moment.
void Session::on_end_of_input(bool reset) {
  if (reset && !wait_ && !offered_ && putting_back_ == 0) {
    close();
    return;
  }
  input_ended_ = true;
  if (reset) forget_client();
  if (reset && offered_) offer_refused();
  if (mode_ != Mode::kNormal) worker_.call_later(*this, kLastWords, &Session::end_stream);
  end_wait();
  finish_if_done();
  set_interest();
}

// It is gone for sure, but something on the server is still to be ended for it.
void Session::forget_client() {
  if (!socket_) return;
  worker_.loop().remove(socket_.fd());
  socket_.close();
  output_.clear();
  write_blocked_ = false;
}

void Session::end_stream() {
  if (mode_ != Mode::kNormal) close();
}

void Session::finish_if_done() {
  if (closed_ || !(closing_ || input_ended_)) return;
  if (!output_.empty() || in_flight() > 0 || traffic_.holds > 0) return;
  if (closing_ || (stall_ == Awaited::kNothing && !throttled_ && again_.empty())) close();
}

void Session::close_when_flushed() {
  closing_ = true;
  worker_.flush_later(*this);
}

void Session::close() {
  if (closed_) return;
  closed_ = true;
  wait_.reset();
  offered_.reset();
  if (socket_) worker_.loop().remove(socket_.fd());
  socket_.close();
  input_.release();
  output_.release();
  replies_.clear();
  again_.clear();
  waiting_.reset();
  memory_.note(0);
  reliefs_.close();
  if (private_) give_back(false);
  if (in_flight() == 0) worker_.bury(*this);
}

void Session::on_writable() {
  flush();
  set_interest();
}

void Session::flush() {
  flush_due_ = false;
  if (closed_ || traffic_.holds > 0) return;
  if (!socket_) output_.clear();
  while (!output_.empty()) {
    const net::IoResult result = socket_.write(output_.data(), output_.size());
    if (result.status == net::IoStatus::kClosed) {
      on_end_of_input(true);
      return;
    }
    if (result.status == net::IoStatus::kAgain) {
      if (!write_blocked_) worker_.watch_output(*this);
      if (!write_blocked_) output_progress_ = worker_.loop().now();
      write_blocked_ = true;
      set_interest();
      go_on();
      return;
    }
    output_progress_ = worker_.loop().now();
    output_.consume(result.bytes);
  }
  note_answered();
  if (output_.capacity() > Upstream::kScratchBytes) output_.release();
  note_memory();
  if (std::exchange(write_blocked_, false)) set_interest();
  if (private_) private_->pause(false);
  go_on();
  finish_if_done();
}

bool Session::output_stuck(TimePoint now) const {
  return write_blocked_ && now - output_progress_ > worker_.shared().options.slow_client_timeout;
}

}  // namespace heatsink::proxy
