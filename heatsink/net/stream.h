// SPDX-License-Identifier: Apache-2.0
// Carries the bytes of one connection: plain, through TLS, or of a simulated network.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/net/channel.h"
#include "heatsink/net/fd.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/resolve.h"
#include "heatsink/net/socket.h"
#include "heatsink/net/tls_context.h"

namespace heatsink::net {

// Owns the socket. Movable; one thread at a time. Call open() until it returns kNone, each time the
// socket is ready for the returned interest; then read() and write(). An accepted plain stream is
// open from the start. The abstraction costs a plain stream one branch per read() and write(),
// which are a system call each.
class Stream {
 public:
  Stream() = default;
  // An accepted connection; uses TLS unless `context` is empty.
  explicit Stream(Fd socket, const TlsContext& context = {});
  // Starts to connect. Call open() when it is writable. Errors: those of start_connect().
  static Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context);

  // Without a socket: `fd` is the channel's number in its loop's Poller.
  Stream(std::unique_ptr<Channel> channel, int fd) : channel_(std::move(channel)), fd_(fd) {}

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // An open socket without TLS: another process can use its descriptor.
  bool is_plain() const { return socket_ && !channel_ && !connecting_; }
  void close();  // TLS sends a goodbye; remove it from its loop first

  // One step of connecting and of the handshake. kNone: open; else the event to wait for.
  Result<Interest> open();
  // The peer has accepted the connection.
  bool is_connected() const { return socket_ ? !connecting_ : channel_ && channel_->is_open(); }
  std::string too_slow() const;  // describes the step that timed out before the stream was open

  // As read_some() and write_some(). With TLS, a read needs `size` >= TlsSession::kRecordBytesMax,
  // or no event reports the rest; and after kAgain the next write must begin with the same bytes.
  IoResult read(char* bytes, std::size_t size) noexcept {
    return channel_ ? channel_->read(bytes, size) : read_some(fd_, bytes, size);
  }
  IoResult write(const char* bytes, std::size_t size) noexcept {
    return channel_ ? channel_->write(bytes, size) : write_some(fd_, bytes, size);
  }
  // As net::end_output(). TLS says goodbye first, and may not deliver what the peer still sends.
  void end_output() noexcept;
  // As net::peer_has_ended().
  bool peer_has_ended() const noexcept {
    return channel_ ? channel_->peer_has_ended() : net::peer_has_ended(fd_);
  }
  // The connection is lost if the peer's kernel confirms nothing of what was sent for this long: a
  // machine that is gone, or a network that is cut. Of an open connection; only TCP has it.
  void limit_unconfirmed(Nanos limit) noexcept {
    if (socket_) net::limit_unconfirmed(fd_, limit);
  }
  // close() will reset the connection, so that this machine's kernel drops what the peer's kernel
  // has not confirmed. Otherwise the kernel goes on sending it, for minutes. What the peer's kernel
  // has confirmed stays there, and the peer may still read it. Of an open connection; only TCP has
  // it.
  void reset_at_close() noexcept {
    if (socket_) net::reset_at_close(fd_);
  }
  // As net::local_text(); "" without a socket.
  std::string local_text() const;
  // After kClosed: "the connection was lost", or the reason that TLS knows.
  std::string loss() const;
  // The certificate that the peer of an open stream with TLS has sent; else nothing.
  std::optional<Certificate> peer_certificate() const {
    return channel_ ? channel_->peer_certificate() : std::nullopt;
  }
  // After open() has refused a TLS client: whether the client does not speak TLS at all, so that it
  // can read a plain-text error.
  bool peer_speaks_plain() const { return channel_ && channel_->peer_speaks_plain(); }

 private:
  Fd socket_;                         // none for a simulated network
  std::unique_ptr<Channel> channel_;  // null: plain
  int fd_ = -1;
  bool connecting_ = false;
};

}  // namespace heatsink::net
