// SPDX-License-Identifier: Apache-2.0
// Opens a connection to the server: TCP, TLS, login.
#include <string>
#include <utility>

#include "heatsink/redis/refusal.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

void Upstream::connect() {
  loop_.cancel(std::exchange(connect_timer_, 0));
  moves_ = server_.moves();
  where_ = server_.where();
  is_withheld_ = server_.is_withheld();
  if (is_withheld_) {
    connect_timer_ =
        loop_.call_after(shared_.options().connect_wait, [this] { fail(server_.withheld()); });
    return;
  }
  std::string reason = "its host name has no address";
  const net::TlsContext tls = server_.tls();
  for (const net::ResolvedAddress& address : server_.addresses()) {
    Result<net::Stream> started = loop_.connect(address, tls);
    if (!started.ok()) {
      // Try the next address. An attempt that has begun is final: its failure comes by the timer.
      reason = started.error().message;
      continue;
    }
    socket_ = std::move(started).value();
    const Status added = loop_.add(socket_.fd(), net::Interest::kReadWrite, *this);
    if (added.ok()) {
      writing_ = true;
      connect_timer_ =
          loop_.call_after(shared_.options().connect_timeout, [this] { fail(socket_.too_slow()); });
      return;
    }
    reason = added.error().message;
    socket_.close();
  }
  connect_timer_ = loop_.call_after(Nanos(0), [this, reason] { fail(reason); });
}

// With RESP2, AUTH and HELLO are separate requests, so that a server without HELLO (before Redis 6)
// works.
void Upstream::start_handshake() {
  state_ = State::kHandshake;
  if (login_ == Login::kNone) {
    finish_handshake(true);
    return;
  }
  const redis::Credentials& credentials =
      user_ != nullptr ? user_->credentials : shared_.credentials();
  auto ask = [this] {
    ++commands_;
    Pending pending;
    pending.kind = PendingKind::kHandshake;
    pending_.push_back(std::move(pending));
  };
  if (protocol_ == resp::Protocol::kResp3) {
    redis::append_hello(output_, protocol_, credentials, "heatsink");
    ask();
  } else {
    if (!credentials.user.empty()) {
      resp::append_request(output_, {"AUTH", credentials.user, credentials.password});
    } else {
      resp::append_request(output_, {"AUTH", credentials.password});
    }
    if (credentials.given()) {
      ask();
    } else {
      output_.clear();
    }
    redis::append_hello(output_, protocol_, {}, "heatsink");
    ask();
  }
  flush();
}

void Upstream::finish_handshake(bool ok) {
  const bool hello_unknown = captured_.starts_with("-ERR unknown command");
  if (!ok && !(hello_unknown && protocol_ == resp::Protocol::kResp2)) {
    refused_ = true;
    const std::string said = captured_.substr(1, captured_.find('\r') - 1);
    fail(user_ == nullptr ? redis::login_problem(said)
                          : "the server refused the login of the client's user: " +
                                std::string(redis::without_arguments(said)));
    return;
  }
  if (!pending_.empty()) return;
  if (ok) hello_reply_ = captured_;
  loop_.cancel(std::exchange(connect_timer_, 0));
  state_ = State::kReady;
  was_ready_ = true;
  host_.ready(*this);
}

// The kernel of a busy server accepts connections, and the server then answers as slowly as for any
// command. So the connect time-out limits the connecting only.
void Upstream::await_login() {
  accepted_ = true;
  loop_.cancel(connect_timer_);
  const Nanos limit = shared_.options().response_timeout;
  connect_timer_ = loop_.call_after(limit, [this, limit] {
    fail(state_ == State::kConnecting
             ? socket_.too_slow()
             : "the server accepted the connection but did not answer for " +
                   format_duration(limit));
  });
}

void Upstream::go_on_connecting() {
  const Result<net::Interest> step = socket_.open();
  if (!step.ok()) {
    fail(step.error().message);
    return;
  }
  if (!accepted_ && socket_.is_connected()) {
    if (server_.may_move()) socket_.limit_unconfirmed(redis::UpstreamAddress::kSilentMachine);
    await_login();
  }
  if (*step == net::Interest::kNone) {
    start_handshake();
  } else {
    loop_.change(socket_.fd(), *step);
  }
}

}  // namespace heatsink::proxy
