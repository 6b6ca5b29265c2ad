// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "apps/heatsink/load/key_list.h"
#include "heatsink/resp/writer.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr unsigned kBackoffDoublingsMax = 10;

std::string closed_text(const net::IoResult& result) {
  if (result.error_number == 0) return "the server closed the connection";
  return std::strerror(result.error_number);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

// The text of an error reply, without its '-' and line end.
std::string_view error_line(std::string_view raw) {
  if (!raw.empty()) raw.remove_prefix(1);
  return raw.substr(0, std::min(raw.find_last_not_of("\r\n") + 1, raw.size()));
}

}  // namespace

LoadConnection::LoadConnection(net::EventLoop& loop, const LoadTarget& target, Tally& tally,
                               const LoadShape& shape)
    : loop_(loop), target_(target), tally_(tally), shape_(shape) {}

LoadConnection::~LoadConnection() {
  loop_.cancel(reconnect_timer_);
  close();
}

void LoadConnection::connect() {
  reconnect_timer_ = 0;
  last_progress_ = BootClock::now();
  auto socket = net::start_connect(target_.addresses[attempts_++ % target_.addresses.size()]);
  if (!socket) return fail(socket.error().message);
  socket_ = std::move(socket).value();
  state_ = State::kConnecting;
  const Status added = loop_.add(socket_.get(), net::Interest::kWrite, *this);
  if (added) return;
  socket_.close();
  fail(added.error().message);
}

void LoadConnection::greet() {
  const net::RedisUrl& url = target_.url;
  greetings_left_ = 0;
  if (!url.password.empty()) {
    ++greetings_left_;
    if (url.user.empty()) resp::append_request(out_, {"AUTH", url.password});
    if (!url.user.empty()) resp::append_request(out_, {"AUTH", url.user, url.password});
  }
  if (url.db != 0) {
    ++greetings_left_;
    resp::append_request(out_, {"SELECT", std::to_string(url.db)});
  }
  state_ = greetings_left_ > 0 ? State::kGreeting : State::kReady;
}

void LoadConnection::append(const Operation& operation) {
  std::string key = shape_.prefix;
  if (shape_.names) {
    key += shape_.names->name(operation.rank);
  } else {
    key += key_name(operation.rank);
  }
  if (operation.write) {
    make_value(value_, shape_.value_bytes, ++value_version_);
    resp::append_request(out_, {"SET", key, value_});
  } else {
    resp::append_request(out_, {"GET", key});
  }
}

void LoadConnection::pump(TimePoint now) {
  if (state_ != State::kReady) return;
  if (in_flight_.empty()) last_progress_ = now;
  if (shape_.closed && !in_flight_.empty()) return flush();
  while (in_flight_.size() < shape_.pipeline) {
    const std::optional<Operation> operation = source_->next(now);
    if (!operation) break;
    append(*operation);
    in_flight_.push_back(*operation);
  }
  flush();
}

void LoadConnection::flush() {
  if (!socket_) return;
  if (!out_.empty()) {
    const net::IoResult result = net::write_some(socket_.get(), out_.data(), out_.size());
    if (result.status == net::IoStatus::kClosed) return fail(closed_text(result));
    if (result.status == net::IoStatus::kOk) out_.consume(result.bytes);
  }
  loop_.change(socket_.get(), out_.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

void LoadConnection::on_writable() {
  if (state_ == State::kConnecting) {
    const Status connected = net::connect_result(socket_);
    if (!connected) return fail(connected.error().message);
    greet();
    if (state_ == State::kReady) return pump(BootClock::now());
  }
  flush();
}

void LoadConnection::on_readable() {
  if (state_ == State::kConnecting) return on_writable();  // connect_result() reports the failure
  std::array<char, kReadBytes> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
  const net::IoResult result = net::read_some(socket_.get(), bytes.data(), bytes.size());
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) return fail(closed_text(result));
  if (scan({bytes.data(), result.bytes})) pump(BootClock::now());
}

bool LoadConnection::scan(std::string_view bytes) {
  const TimePoint now = BootClock::now();
  last_progress_ = now;
  while (!bytes.empty()) {
    if (!reply_begun_) error_text_.clear();
    const bool is_error = reply_begun_ ? !error_text_.empty() : bytes.front() == '-';
    reply_begun_ = true;
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError) {
      fail("the server does not speak RESP: is this the port of a Redis or Valkey server?");
      return false;
    }
    if (is_error && error_text_.size() < kErrorBytesMax) {
      error_text_ += bytes.substr(0, std::min(step.consumed, kErrorBytesMax));
    }
    bytes.remove_prefix(step.consumed);
    if (step.status == resp::ScanStatus::kNeedMore) return true;
    reply_begun_ = false;
    if (!finish_reply(now)) return false;
  }
  return true;
}

bool LoadConnection::finish_reply(TimePoint now) {
  const bool is_error = scanner_.type() == '-';
  if (greetings_left_ > 0) {
    if (is_error) {
      fail(std::string(error_line(error_text_)));
      return false;
    }
    if (--greetings_left_ == 0) state_ = State::kReady;
    return true;
  }
  if (in_flight_.empty()) {
    fail("the server sent a reply without a request");
    return false;
  }
  failures_ = 0;
  const Operation operation = in_flight_.front();
  in_flight_.pop_front();
  if (is_error) {
    tally_.add_error(std::string(error_line(error_text_)));
  } else {
    count(operation, now);
  }
  source_->answered();
  return true;
}

void LoadConnection::count(const Operation& operation, TimePoint now) {
  ++(operation.write ? tally_.writes : tally_.reads);
  if (!operation.write && scanner_.announced() == -1) ++tally_.nils;
  tally_.latency.add(now - operation.due);
}

void LoadConnection::check_timeout(TimePoint now) {
  const bool waiting =
      state_ == State::kConnecting || state_ == State::kGreeting || !in_flight_.empty();
  if (state_ == State::kDown || !waiting || now - last_progress_ < kReplyTimeout) return;
  fail(state_ == State::kConnecting ? "not connected within 5s" : "no reply within 5s");
}

void LoadConnection::fail(const std::string& why) {
  tally_.add_error(why);
  close();
  const unsigned doublings = std::min(failures_++, kBackoffDoublingsMax);
  const Nanos delay = std::min(kBackoffMin * (1U << doublings), kBackoffMax);
  reconnect_timer_ = loop_.call_after(delay, [this] { connect(); });
}

void LoadConnection::close() {
  if (socket_) {
    loop_.remove(socket_.get());
    socket_.close();
  }
  state_ = State::kDown;
  scanner_ = {};
  reply_begun_ = false;
  greetings_left_ = 0;
  out_.clear();
  for (const Operation& operation : std::exchange(in_flight_, {})) source_->lost(operation);
}

}  // namespace heatsink::app
