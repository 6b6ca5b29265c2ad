// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/tls_handshakes.h"

#include <array>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr std::string_view kNoTls =
    "-ERR this port accepts only TLS: use rediss:// or redis-cli --tls\r\n";

constexpr std::size_t kDrainMax = 256 * 1024;  // bytes that a refused client may still send

}  // namespace

class TlsHandshakes::Handshake final : public net::FdHandler {
 public:
  Handshake(TlsHandshakes& handshakes, net::Fd socket, const net::TlsContext& context,
            std::string peer)
      : stream_(std::move(socket), context), peer_(std::move(peer)), handshakes_(handshakes) {}

  void on_readable() override { handshakes_.step(*this); }
  void on_writable() override { handshakes_.step(*this); }

  net::Stream stream_;
  std::string peer_;
  net::TimerId timer_ = 0;
  bool refused_ = false;
  std::string reason_;
  std::size_t drained_bytes_ = 0;

 private:
  TlsHandshakes& handshakes_;
};

TlsHandshakes::TlsHandshakes(net::EventLoop& loop, Owner& owner, Nanos timeout)
    : loop_(loop), owner_(owner), timeout_(timeout) {}

TlsHandshakes::~TlsHandshakes() {
  for (const auto& [fd, handshake] : handshakes_) {
    loop_.cancel(handshake->timer_);
    loop_.remove(fd);
  }
}

void TlsHandshakes::start(net::Fd socket, const net::TlsContext& context, std::string peer) {
  const int fd = socket.get();
  auto handshake = std::make_unique<Handshake>(*this, std::move(socket), context, std::move(peer));
  if (const Status added = loop_.add(fd, net::Interest::kRead, *handshake); !added.ok()) {
    owner_.handshake_failed(handshake->peer_, added.error().message);
    return;
  }
  handshake->timer_ = loop_.call_after(timeout_, [this, each = handshake.get()] {
    refuse(*each, "TLS: the handshake took longer than proxy.tls-handshake-timeout");
  });
  handshakes_.emplace(fd, std::move(handshake));
}

void TlsHandshakes::step(Handshake& handshake) {
  if (handshake.refused_) {
    drain(handshake);
    return;
  }
  const Result<net::Interest> step = handshake.stream_.open();
  if (!step.ok()) {
    refuse(handshake, step.error().message);
    return;
  }
  if (*step != net::Interest::kNone) {
    loop_.change(handshake.stream_.fd(), *step);
    return;
  }
  const std::string peer = handshake.peer_;
  owner_.handshake_done(release(handshake), peer);
}

// Keeps the socket open until the client has read the reason (the TLS alert, or plain text).
// Closing it with unread bytes resets the connection and loses the reason, and the client may have
// sent more: in TLS 1.3 its first command follows the handshake at once.
void TlsHandshakes::refuse(Handshake& handshake, const std::string& reason) {
  if (handshake.stream_.peer_speaks_plain())
    static_cast<void>(net::write_some(handshake.stream_.fd(), kNoTls.data(), kNoTls.size()));
  handshake.refused_ = true;
  handshake.reason_ = reason;
  net::end_output(handshake.stream_.fd());
  loop_.change(handshake.stream_.fd(), net::Interest::kRead);
  loop_.cancel(handshake.timer_);
  handshake.timer_ = loop_.call_after(kAlertTime, [this, each = &handshake] { close(*each); });
}

// Reads and drops the client's bytes until the client closes the connection.
void TlsHandshakes::drain(Handshake& handshake) {
  std::array<char, 16 * 1024> bytes;
  const net::IoResult read = net::read_some(handshake.stream_.fd(), bytes.data(), bytes.size());
  handshake.drained_bytes_ += read.bytes;
  if (read.status == net::IoStatus::kClosed || handshake.drained_bytes_ > kDrainMax)
    close(handshake);
}

void TlsHandshakes::close(Handshake& handshake) {
  const std::string peer = handshake.peer_;
  const std::string reason = handshake.reason_;
  release(handshake).close();
  owner_.handshake_failed(peer, reason);
}

net::Stream TlsHandshakes::release(Handshake& handshake) {
  loop_.cancel(handshake.timer_);
  loop_.remove(handshake.stream_.fd());
  net::Stream stream = std::move(handshake.stream_);
  handshakes_.erase(stream.fd());
  return stream;
}

}  // namespace heatsink::proxy
