// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <climits>
#include <system_error>
#include <utility>

#include "heatsink/base/sanitizers.h"
#include "heatsink/net/resolve.h"

namespace heatsink::net {
namespace {

std::string text_of(int error_number) { return std::system_category().message(error_number); }

void set_option(const Fd& socket, int level, int name, int value) {
  // These options fail only on a dead socket, which the next call on it reports.
  (void)setsockopt(socket.get(), level, name, &value, sizeof value);
}

// Keepalive finds a silent peer after 60 + 3 * 20 s. Replies are written whole, so Nagle could only
// delay them.
void set_connection_options(const Fd& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 20);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Fd open_socket(int family) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::string text_of(const sockaddr* address, socklen_t length) {
  if (address->sa_family == AF_UNIX) {  // a client's socket has no name
    const bool named = length > offsetof(sockaddr_un, sun_path);
    return std::string("unix:") +
           (named ? reinterpret_cast<const sockaddr_un*>(address)->sun_path : "");
  }
  std::array<char, NI_MAXHOST> host;
  std::array<char, NI_MAXSERV> port;
  if (getnameinfo(address, length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "unknown";
  const std::string_view name(host.data());
  const bool brackets = name.find(':') != std::string_view::npos;
  return (brackets ? "[" : "") + std::string(name) + (brackets ? "]:" : ":") + port.data();
}

Error listen_error(const HostPort& address, int error_number) {
  const auto say = [&](ErrorCode code, const std::string& why) {
    return Error{code, "cannot listen on " + address.text() + ": " + why};
  };
  switch (error_number) {
    case EADDRINUSE:
      return say(ErrorCode::kUnavailable,
                 "another program uses it; stop that program or choose another port");
    case EACCES:
      return say(ErrorCode::kPermission, "permission denied; choose a port above 1023");
    case EADDRNOTAVAIL:
      return say(ErrorCode::kInvalidArgument, "this machine has no such address");
    default:
      return say(ErrorCode::kUnavailable, text_of(error_number));
  }
}

// Returns errno on failure, 0 otherwise.
int bind_and_listen(const Fd& socket, const ResolvedAddress& address, int backlog) {
  if (::bind(socket.get(), as_sockaddr(address), address.length) != 0) return errno;
  return ::listen(socket.get(), backlog) == 0 ? 0 : errno;
}

// Prefers an address that takes both IPv4 and IPv6: ":port" means all interfaces.
const ResolvedAddress& widest(const std::vector<ResolvedAddress>& addresses, bool any) {
  for (const ResolvedAddress& each : addresses)
    if (any && each.family == AF_INET6) return each;
  return addresses.front();
}

enum class AcceptFailure { kNothing, kThisOneOnly, kNoDescriptor, kListener };

AcceptFailure classify_accept(int error_number) {
  switch (error_number) {
    case EAGAIN:
      return AcceptFailure::kNothing;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return AcceptFailure::kNoDescriptor;
    case EBADF:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP:
      return AcceptFailure::kListener;
    default:  // the peer or the network went away first: accept(2), "Error handling"
      return AcceptFailure::kThisOneOnly;
  }
}

// The remedy of AcceptFailure::kNoDescriptor.
const char* remedy_of(int error_number) {
  switch (error_number) {
    case EMFILE:
      return "raise ulimit -n (systemd: LimitNOFILE), or lower proxy.maximum-clients";
    case ENFILE:
      return "raise the kernel setting fs.file-max: all processes together have too many files";
    default:
      return "the machine, or the control group, has no memory left for sockets";
  }
}

// recv() and send() of the C library are points where a thread may be cancelled: each of them takes
// a dozen instructions and two atomic operations around the system call, 3 % of the proxy's CPU
// time (bench/pass_through.py, one GET at a time). No thread of ours is ever cancelled. The thread
// sanitizer must see the calls, because they order threads.
ssize_t receive(int fd, char* bytes, std::size_t size) noexcept {
#if HEATSINK_THREAD_SANITIZER || !defined(SYS_recvfrom)
  return ::recv(fd, bytes, size, 0);
#else
  return ::syscall(SYS_recvfrom, fd, bytes, size, 0, nullptr, nullptr);
#endif
}

ssize_t transmit(int fd, const char* bytes, std::size_t size) noexcept {
#if HEATSINK_THREAD_SANITIZER || !defined(SYS_sendto)
  return ::send(fd, bytes, size, MSG_NOSIGNAL);
#else
  return ::syscall(SYS_sendto, fd, bytes, size, MSG_NOSIGNAL, nullptr, 0);
#endif
}

enum class Sharing { kPort, kAlone };

Result<Fd> listen(const HostPort& address, int backlog, Sharing sharing) {
  Result<std::vector<ResolvedAddress>> found = resolve(address);
  if (!found) return found.error();
  const bool any = address.host.empty();
  const ResolvedAddress& chosen = widest(*found, any);
  Fd socket = open_socket(chosen.family);
  if (!socket && any && errno == EAFNOSUPPORT)  // a kernel without IPv6
    return listen({"0.0.0.0", address.port}, backlog, sharing);
  if (!socket) return listen_error(address, errno);
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (sharing == Sharing::kPort) set_option(socket, SOL_SOCKET, SO_REUSEPORT, 1);
  if (chosen.family == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  // Accepted sockets inherit these on Linux, which saves five system calls per client.
  set_connection_options(socket);
  if (const int failed = bind_and_listen(socket, chosen, backlog))
    return listen_error(address, failed);
  return socket;
}

}  // namespace

Result<Fd> listen_tcp(const HostPort& address, int backlog) {
  return listen(address, backlog, Sharing::kPort);
}

Status check_unused(const HostPort& address) {
  if (address.port == 0) return Unit{};
  Result<Fd> alone = listen(address, 1, Sharing::kAlone);
  if (!alone.ok()) return alone.error();
  return Unit{};
}

std::string local_text(int socket) {
  ResolvedAddress own;
  socklen_t length = sizeof own.bytes;
  auto* const address = reinterpret_cast<sockaddr*>(own.bytes);
  return ::getsockname(socket, address, &length) == 0 ? text_of(address, length) : "unknown";
}

Result<Fd> duplicate(const Fd& socket) {
  Fd copy(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (copy) return copy;
  return Error{ErrorCode::kOutOfRange, "cannot duplicate a socket: " + text_of(errno)};
}

std::string address_text(const ResolvedAddress& address) {
  return text_of(as_sockaddr(address), address.length);
}

std::string peer_text(int socket) {
  ResolvedAddress peer;
  socklen_t length = sizeof peer.bytes;
  auto* const address = reinterpret_cast<sockaddr*>(peer.bytes);
  return ::getpeername(socket, address, &length) == 0 ? text_of(address, length) : "unknown";
}

std::uint16_t local_port(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  // The port is at the same offset in both structures.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

Result<Accepted> accept_tcp(const Fd& listener, bool& again) {
  again = false;
  while (true) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    Fd socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket)
      return Accepted{std::move(socket), text_of(reinterpret_cast<sockaddr*>(&peer), length)};
    const int reason = errno;
    switch (classify_accept(reason)) {
      case AcceptFailure::kThisOneOnly:
        continue;
      case AcceptFailure::kNothing:
        again = true;
        return Error{ErrorCode::kUnavailable, "no connection is waiting"};
      case AcceptFailure::kNoDescriptor:
        return Error{ErrorCode::kOutOfRange, "cannot accept one more connection: " +
                                                 text_of(reason) + "; " + remedy_of(reason)};
      case AcceptFailure::kListener:
        return invalid_argument("not a listening socket: " + text_of(reason));
    }
  }
}

Result<Fd> start_connect(const ResolvedAddress& address) {
  const auto fail = [&](int error_number) {
    const bool full =
        error_number == EMFILE || error_number == ENFILE || error_number == EADDRNOTAVAIL;
    return Error{full ? ErrorCode::kOutOfRange : ErrorCode::kUnavailable,
                 "cannot connect to " + text_of(as_sockaddr(address), address.length) + ": " +
                     text_of(error_number)};
  };
  Fd socket = open_socket(address.family);
  if (!socket) return fail(errno);
  if (address.family != AF_UNIX) set_connection_options(socket);
  const int result = ::connect(socket.get(), as_sockaddr(address), address.length);
  // After EINTR the connect continues: connect(2). A Unix socket with a full queue returns EAGAIN
  // and does not continue.
  if (result != 0 && errno != EINPROGRESS && errno != EINTR) return fail(errno);
  return socket;
}

Status connect_result(const Fd& socket) {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error_number, &length) != 0)
    error_number = errno;
  if (error_number == 0) return Unit{};
  const ErrorCode code = error_number == ETIMEDOUT ? ErrorCode::kTimedOut : ErrorCode::kUnavailable;
  return Error{code, "cannot connect: " + text_of(error_number)};
}

IoResult read_some(int fd, char* bytes, std::size_t size) noexcept {
  assert(size > 0);
  while (true) {
    const ssize_t count = receive(fd, bytes, size);
    if (count > 0) return {IoStatus::kOk, static_cast<std::size_t>(count)};
    if (count == 0) return {IoStatus::kClosed};
    if (errno == EAGAIN) return {IoStatus::kAgain};
    if (errno != EINTR) return {IoStatus::kClosed, 0, errno};
  }
}

bool peer_has_ended(int fd) noexcept {
  pollfd watched{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return ::poll(&watched, 1, 0) > 0;  // poll() always reports POLLHUP and POLLERR
}

bool wait_until_ready(int fd, Interest interest, Nanos at_most) noexcept {
  const TimePoint due = BootClock::now() + at_most;
  pollfd watched{.fd = fd, .events = 0, .revents = 0};
  if (includes(interest, Interest::kRead)) watched.events |= POLLIN;
  if (includes(interest, Interest::kWrite)) watched.events |= POLLOUT;
  while (true) {
    const auto left = std::chrono::ceil<Millis>(std::max(due - BootClock::now(), Nanos(0)));
    const int ready =
        ::poll(&watched, 1, static_cast<int>(std::min<Millis::rep>(left.count(), INT_MAX)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

void end_output(int fd) noexcept { ::shutdown(fd, SHUT_WR); }

void limit_unconfirmed(int fd, Nanos limit) noexcept {
  const auto count = std::chrono::ceil<Millis>(limit).count();
  const auto limit_ms = static_cast<unsigned>(std::clamp<Millis::rep>(count, 0, INT_MAX));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

void reset_at_close(int fd) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

IoResult write_some(int fd, const char* bytes, std::size_t size) noexcept {
  while (true) {
    const ssize_t count = transmit(fd, bytes, size);
    if (count >= 0) return {IoStatus::kOk, static_cast<std::size_t>(count)};
    if (errno == EAGAIN) return {IoStatus::kAgain};
    if (errno != EINTR) return {IoStatus::kClosed, 0, errno};
  }
}

}  // namespace heatsink::net
