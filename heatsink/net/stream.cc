// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/stream.h"

#include <utility>

#include "heatsink/net/tls_session.h"

namespace heatsink::net {

Stream::Stream(Fd socket, const TlsContext& context)
    : socket_(std::move(socket)), fd_(socket_.get()) {
  if (context) channel_ = std::make_unique<TlsSession>(fd_, context);
}

Result<Stream> Stream::connect(const ResolvedAddress& address, const TlsContext& context) {
  Result<Fd> started = start_connect(address);
  if (!started.ok()) return started.error();
  Stream stream(std::move(started).value(), context);
  stream.connecting_ = true;
  return stream;
}

void Stream::close() {
  if (channel_) channel_->close();
  channel_.reset();
  socket_.close();
  fd_ = -1;
  connecting_ = false;
}

void Stream::end_output() noexcept {
  if (channel_) {
    channel_->end_output();
  } else {
    net::end_output(fd_);
  }
}

Result<Interest> Stream::open() {
  if (connecting_) {
    if (const Status connected = connect_result(socket_); !connected.ok()) return connected.error();
    connecting_ = false;
  }
  if (!channel_ || channel_->is_open()) return Interest::kNone;
  return channel_->open();
}

std::string Stream::too_slow() const {
  return connecting_ || !channel_ ? "connecting timed out"
                                  : "the TLS handshake timed out: is this its TLS port?";
}

std::string Stream::local_text() const { return socket_ ? net::local_text(fd_) : ""; }

std::string Stream::loss() const {
  const std::string fault = channel_ ? channel_->fault() : "";
  return fault.empty() ? "the connection was lost" : fault;
}

}  // namespace heatsink::net
