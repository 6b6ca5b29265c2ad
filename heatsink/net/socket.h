// SPDX-License-Identifier: Apache-2.0
// TCP sockets, non-blocking, and addresses as a person writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::net {

// Owns a file descriptor. Movable.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { int fd = fd_; fd_ = -1; return fd; }
  void close();

 private:
  int fd_ = -1;
};

struct HostPort {
  std::string host;        // a name, an IPv4 address, or an IPv6 address without brackets
  std::uint16_t port = 0;  // 0 in a listening address: any free port
  std::string text() const;  // "host:port", "[::1]:6379"
};
// "host:port", "[::1]:port", ":port" (all interfaces).
Result<HostPort> parse_host_port(std::string_view text);

// redis://[user[:password]@]host[:port][/db]; user and password percent-decoded.
struct RedisUrl {
  HostPort address;
  std::string user;      // "" : none given
  std::string password;
  std::uint32_t db = 0;
  std::string display() const;  // without the password
};
Result<RedisUrl> parse_redis_url(std::string_view text);

// A listening socket with SO_REUSEPORT (several workers share the port) and SO_REUSEADDR, non-blocking.
// The error names the address and the fix (in use, not permitted, no such address).
Result<Fd> listen_tcp(const HostPort& address, int backlog = 1024);
std::uint16_t local_port(const Fd& socket);

// accept4, non-blocking, TCP_NODELAY, keepalive (60 s). kUnavailable with nothing to accept ("again" true),
// kOutOfRange when file descriptors ran out (throttle, do not spin).
struct Accepted {
  Fd socket;
  std::string peer;  // "127.0.0.1:54321"
};
Result<Accepted> accept_tcp(const Fd& listener, bool& again);

// The addresses of a host, numeric ones without asking anyone. Blocks while a name is resolved.
struct ResolvedAddress {
  alignas(8) unsigned char bytes[128];  // a sockaddr_storage
  unsigned length = 0;
  int family = 0;
};
Result<std::vector<ResolvedAddress>> resolve(const HostPort& address);

// Starts a non-blocking connect with TCP_NODELAY and keepalive; writable means decided: ask connect_result().
Result<Fd> start_connect(const ResolvedAddress& address);
Status connect_result(const Fd& socket);

// read/write as values. kAgain: nothing now. kClosed: end of stream, or reset (see `error_number`).
enum class IoStatus { kOk, kAgain, kClosed };
struct IoResult {
  IoStatus status;
  std::size_t bytes = 0;
  int error_number = 0;
};
IoResult read_some(int fd, char* bytes, std::size_t size) noexcept;
IoResult write_some(int fd, const char* bytes, std::size_t size) noexcept;  // MSG_NOSIGNAL

}  // namespace heatsink::net
