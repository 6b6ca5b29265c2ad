// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_connection.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/redis/refusal.h"

namespace heatsink::redis {

ServerConnection::~ServerConnection() {
  loop_.cancel(timer_);
  if (socket_) loop_.remove(socket_.fd());
}

void ServerConnection::connect() {
  timer_ = 0;
  moves_ = address_.moves();
  std::vector<net::ResolvedAddress> addresses = address_.addresses();
  // After a failure the name is resolved again: a fail-over may have moved it to another machine.
  if (attempt_ > 0 || addresses.empty()) {
    const Status found = address_.look_up();  // blocks this thread, which has no other duty
    addresses = address_.addresses();
    if (addresses.empty()) {
      lost(found.ok() ? Error{ErrorCode::kUnavailable, "its host name has no address"}
                      : found.error());
      return;
    }
  }
  Result<net::Stream> started =
      loop_.connect(addresses[attempt_++ % addresses.size()], address_.tls());
  if (!started.ok()) {
    lost(started.error());
    return;
  }
  socket_ = std::move(started).value();
  if (const Status added = loop_.add(socket_.fd(), net::Interest::kReadWrite, *this); !added.ok()) {
    socket_.close();
    lost(added.error());
    return;
  }
  timer_ = loop_.call_after(options_.connect_timeout, [this] {
    lost({ErrorCode::kTimedOut, socket_.too_slow()});
  });
}

void ServerConnection::close(const std::string& why) {
  loop_.cancel(std::exchange(timer_, 0));
  if (socket_) {
    loop_.remove(socket_.fd());
    socket_.close();
  }
  connected_ = false;
  problem_ = why;
  protocol_.disconnected(why);
}

void ServerConnection::retry() {
  if (socket_ || timer_ == 0) return;
  loop_.cancel(timer_);
  backoff_ = Nanos(0);
  connect();
}

void ServerConnection::renew(TimePoint if_before) {
  if (!connected_ || connected_at_ >= if_before) return;
  lost({ErrorCode::kUnavailable,
        "a connection to the server was opened again, and the server may be another one now"});
  retry();
}

void ServerConnection::follow() {
  if (is_outdated()) lost({ErrorCode::kUnavailable, "the server is another one now"});
  if (!address_.is_withheld()) retry();
}

void ServerConnection::lost(const Error& why) {
  loop_.cancel(std::exchange(timer_, 0));
  if (socket_) {
    loop_.remove(socket_.fd());
    socket_.close();
  }
  connected_ = false;
  protocol_.disconnected(why.message);
  if (problem_ != why.message) log_loss(why.message);
  was_lost_ = true;
  problem_ = why.message;
  problem_code_ = why.code;
  backoff_ = std::clamp(backoff_ * 2, options_.backoff_min, options_.backoff_max);
  // Jitter: clients that lost the server at the same moment do not all reconnect at the same
  // moment.
  std::uniform_int_distribution<Nanos::rep> pause(backoff_.count() / 2, backoff_.count());
  timer_ = loop_.call_after(Nanos(pause(random_)), [this] { connect(); });
}

void ServerConnection::log_loss(const std::string& why) const {
  // All connections of the program have the same login: one line is enough.
  if (is_login_problem(why)) {
    log_once(LogLevel::kWarning, "login " + address_.where(), address_.unreachable(why),
             loop_.now());
    return;
  }
  log_limited(LogLevel::kWarning, use_,
              "no " + use_ + ": " + why +
                  "; it connects again by itself: "
                  "if this line comes back, look at the server, the network and the login",
              loop_.now());
}

void ServerConnection::on_writable() {
  if (!connected_) {
    const Result<net::Interest> step = socket_.open();
    if (!step.ok()) {
      lost(step.error());
      return;
    }
    if (*step != net::Interest::kNone) {
      loop_.change(socket_.fd(), *step);
      return;
    }
    loop_.cancel(std::exchange(timer_, 0));
    connected_ = true;
    if (address_.may_move()) socket_.limit_unconfirmed(UpstreamAddress::kSilentMachine);
    connected_at_ = loop_.clock();
    protocol_.connected(connected_at_);
  }
  flush();
}

void ServerConnection::on_readable() {
  if (!connected_) {
    on_writable();
    return;
  }
  // One read per event, so that a busy connection does not hold up the loop.
  std::array<char, 64 * 1024> bytes;
  const net::IoResult result = socket_.read(bytes.data(), bytes.size());
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) {
    lost({ErrorCode::kUnavailable, socket_.loss()});
    return;
  }
  const Status read = protocol_.received({bytes.data(), result.bytes}, loop_.clock());
  if (!read.ok()) {
    lost(read.error());
    return;
  }
  if (protocol_.up()) {
    backoff_ = Nanos(0);
    if (std::exchange(was_lost_, false))
      log_limited(LogLevel::kInfo, use_ + " again", use_ + ": working again", loop_.now());
    problem_.clear();
  }
  flush();
}

void ServerConnection::tick() {
  if (is_outdated()) return follow();
  if (!connected_) return;
  const Status ticked = protocol_.tick(loop_.clock());
  if (!ticked.ok()) {
    // A question that was given up is not to be executed later, as far as that can be prevented.
    socket_.reset_at_close();
    lost(ticked.error());
    return;
  }
  flush();
}

void ServerConnection::flush() {
  if (is_outdated()) return follow();
  if (!connected_) return;
  const std::uint64_t commands = protocol_.take_commands();
  if (options_.commands != nullptr && commands > 0)
    options_.commands->fetch_add(commands, std::memory_order_relaxed);
  ByteBuffer& output = protocol_.output();
  while (!output.empty()) {
    const net::IoResult result = socket_.write(output.data(), output.size());
    if (result.status == net::IoStatus::kAgain) break;
    if (result.status == net::IoStatus::kClosed) {
      lost({ErrorCode::kUnavailable, socket_.loss()});
      return;
    }
    if (options_.writes != nullptr) options_.writes->fetch_add(1, std::memory_order_relaxed);
    output.consume(result.bytes);
  }
  loop_.change(socket_.fd(), output.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

}  // namespace heatsink::redis
