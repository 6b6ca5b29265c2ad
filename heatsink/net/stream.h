// SPDX-License-Identifier: Apache-2.0
// The bytes of one connection: plain, through TLS, or of a simulated network.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/net/channel.h"
#include "heatsink/net/fd.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/resolve.h"
#include "heatsink/net/socket.h"
#include "heatsink/net/tls_context.h"

namespace heatsink::net {

// Owns the socket. Movable; one thread at a time. To be used: open() until it gives kNone, each
// time the socket is ready for what it said, and then read() and write(). An accepted plain one is
// open from the start. What a plain one pays for the other: one branch per read() and write(),
// which make a system call each.
class Stream {
 public:
  Stream() = default;
  // Accepted; by TLS unless `context` is empty.
  explicit Stream(Fd socket, const TlsContext& context = {});
  // Starts to connect; wait until it is writable for the first open(). Errors: start_connect()'s.
  static Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context);

  // Without a socket: `fd` is the number by which its loop's Poller knows the channel.
  Stream(std::unique_ptr<Channel> channel, int fd) : channel_(std::move(channel)), fd_(fd) {}

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();  // with a goodbye where TLS has one; remove it from its loop first

  // One step of connecting and of the handshake. kNone: open; else what to wait for.
  Result<Interest> open();
  // The other side has accepted.
  bool is_connected() const { return socket_ ? !connecting_ : channel_ && channel_->is_open(); }
  std::string too_slow() const;  // what has not come to its end in time, before it is open

  // As read_some() and write_some(), of the same meaning. By TLS `size` is at least
  // TlsSession::kRecordBytesMax for a read, or no event tells of the rest; and after kAgain the
  // bytes to be written begin with the same.
  IoResult read(char* bytes, std::size_t size) noexcept {
    return channel_ ? channel_->read(bytes, size) : read_some(fd_, bytes, size);
  }
  IoResult write(const char* bytes, std::size_t size) noexcept {
    return channel_ ? channel_->write(bytes, size) : write_some(fd_, bytes, size);
  }
  // As net::peer_has_ended().
  bool peer_has_ended() const noexcept {
    return channel_ ? channel_->peer_has_ended() : net::peer_has_ended(fd_);
  }
  // After kClosed: "the connection was lost", or what TLS knows of it.
  std::string loss() const;
  // After open() has refused a client of TLS: whether what it sent is no TLS at all, so that plain
  // words are what it can read.
  bool peer_speaks_plain() const { return channel_ && channel_->peer_speaks_plain(); }

 private:
  Fd socket_;                         // none: of a simulated network
  std::unique_ptr<Channel> channel_;  // null: plain
  int fd_ = -1;
  bool connecting_ = false;
};

}  // namespace heatsink::net
