// SPDX-License-Identifier: Apache-2.0
// Wraps non-blocking sockets: listen, accept, connect, read, write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"
#include "heatsink/net/fd.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/resolve.h"

namespace heatsink::net {

// A listening socket with SO_REUSEPORT (several workers share the port) and SO_REUSEADDR,
// non-blocking. The error names the address and the fix (in use, not permitted, no such address).
Result<Fd> listen_tcp(const HostPort& address, int backlog = 1024);

// Whether another process listens there already, even one of this user: with SO_REUSEPORT two
// programs would silently share the port. The error is listen_tcp()'s. Port 0 is always free.
Status check_unused(const HostPort& address);
std::uint16_t local_port(const Fd& socket);
// Another descriptor of the same socket, closed by exec(). Error: kOutOfRange.
Result<Fd> duplicate(const Fd& socket);
// "127.0.0.1:54321", "[::1]:54321", "unix:": the local address, which the peer also sees unless a
// NAT translates it.
std::string local_text(int socket);
// The peer's address, as Accepted::peer.
std::string peer_text(int socket);

// accept4: non-blocking, with TCP_NODELAY and keepalive (60 s); Unix sockets, too. kUnavailable if
// there is nothing to accept ("again" true), kOutOfRange without free file descriptors (throttle,
// do not spin).
struct Accepted {
  Fd socket;
  std::string peer;  // "127.0.0.1:54321"; "unix:"
};
Result<Accepted> accept_tcp(const Fd& listener, bool& again);

// Starts a non-blocking connect; TCP gets TCP_NODELAY and keepalive. When the socket is writable,
// call connect_result().
Result<Fd> start_connect(const ResolvedAddress& address);
Status connect_result(const Fd& socket);

// The result of read and write. kAgain: nothing now. kClosed: end of stream, or reset (see
// `error_number`).
enum class IoStatus { kOk, kAgain, kClosed };
struct IoResult {
  IoStatus status;
  std::size_t bytes = 0;
  int error_number = 0;
};
// Whether the peer will send no more: it has closed, or ended its output, even if earlier bytes
// still wait to be read. One poll() without waiting.
bool peer_has_ended(int fd) noexcept;
// "10.0.0.7:6379": as peer_text() has it.
std::string address_text(const ResolvedAddress& address);
// Waits until `fd` is ready for `interest`, or the peer is gone; false: not within `at_most`
// (rounded up to a millisecond). For threads without a loop.
bool wait_until_ready(int fd, Interest interest, Nanos at_most) noexcept;
// Ends the output: the peer sees the end, and can still be read.
void end_output(int fd) noexcept;
// TCP_USER_TIMEOUT: see Stream::limit_unconfirmed(). No effect on other sockets.
void limit_unconfirmed(int fd, Nanos limit) noexcept;
// SO_LINGER with 0 s: see Stream::reset_at_close(). No effect on other sockets.
void reset_at_close(int fd) noexcept;
IoResult read_some(int fd, char* bytes, std::size_t size) noexcept;
IoResult write_some(int fd, const char* bytes, std::size_t size) noexcept;  // MSG_NOSIGNAL

}  // namespace heatsink::net
