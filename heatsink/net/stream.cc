// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/stream.h"

#include <utility>

namespace heatsink::net {

Stream::Stream(Fd socket, const TlsContext& context) : socket_(std::move(socket)) {
  if (context) tls_ = std::make_unique<TlsSession>(socket_.get(), context);
}

Result<Stream> Stream::connect(const ResolvedAddress& address, const TlsContext& context) {
  Result<Fd> started = start_connect(address);
  if (!started.ok()) return started.error();
  Stream stream(std::move(started).value(), context);
  stream.connecting_ = true;
  return stream;
}

void Stream::close() {
  if (tls_) tls_->say_goodbye();
  tls_.reset();
  socket_.close();
  connecting_ = false;
}

Result<Interest> Stream::open() {
  if (connecting_) {
    if (const Status connected = connect_result(socket_); !connected.ok()) return connected.error();
    connecting_ = false;
  }
  if (!tls_ || tls_->is_open()) return Interest::kNone;
  return tls_->shake_hands();
}

std::string Stream::too_slow() const {
  return connecting_ || !tls_ ? "connecting timed out"
                              : "the TLS handshake timed out: is this its TLS port?";
}

std::string Stream::loss() const {
  return tls_ && !tls_->fault().empty() ? tls_->fault() : "the connection was lost";
}

}  // namespace heatsink::net
