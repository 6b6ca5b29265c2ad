// SPDX-License-Identifier: Apache-2.0
// Parses addresses as people write them: host:port, unix:/path, and URLs of servers. No socket, no
// look-up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink::net {

struct HostPort {
  std::string
      host;  // a name, an IPv4 address, or an IPv6 address without brackets; "": all interfaces
  std::uint16_t port = 0;    // 0 in a listening address: any free port
  std::string text() const;  // "host:port", "[::1]:6379"; parse_host_port() takes it back
};
// "host:port", "[::1]:port", ":port" (all interfaces). Error: kInvalidArgument, with the text and
// an example.
Result<HostPort> parse_host_port(std::string_view text);

// Of what sun_path holds (108 bytes with its end), less the suffix that a new socket file has until
// it is put in its place.
inline constexpr std::size_t kUnixPathBytesMax = 96;

// Where to listen: a TCP address, or the path of a Unix socket.
struct Endpoint {
  HostPort tcp;
  std::string unix_path;  // "": tcp counts
  bool is_unix() const { return !unix_path.empty(); }
  std::string text() const;  // "host:port", "unix:/path"; parse_endpoint() takes it back
};
// "unix:/path" (absolute, at most kUnixPathBytesMax), or what parse_host_port() takes.
Result<Endpoint> parse_endpoint(std::string_view text);

// Whom a peer ("10.0.0.7:54321", "[::1]:54321") is counted with: its IPv4 address, or the /64 of
// its IPv6 address, of which one machine may have as many addresses as it likes. "": it has
// neither.
std::string network_of(std::string_view peer);

// Stands for the password where a URL is shown; nobody's password, so that it is not taken for one.
inline constexpr std::string_view kHiddenPassword = "***";

struct RedisUrl {
  HostPort address;  // of no meaning with a unix_path
  std::string user;  // "": none given
  std::string password;
  std::uint32_t db = 0;
  std::string unix_path = {};    // "": the address counts
  bool tls = false;              // never with a unix_path
  std::string where() const;     // "host:port", "unix:/path"
  std::string display() const;   // without the password
  std::string redacted() const;  // with kHiddenPassword, if there is a password
};
// A server as somebody wrote it, with the scheme that it lacks: redis:// before host:port, unix://
// before a path (also after "unix:").
std::string with_scheme(std::string_view server);

// [redis://][[user][:password]@]host[:port][/db] (as redis-cli -u), rediss:// for TLS, valkey://
// and valkeys:// for the same; unix://[[user][:password]@]/path[?db=N]. User, password and path
// percent-decoded, port 6379 unless given. A path alone (/run/redis.sock) is a Unix socket, too. No
// error repeats the password.
Result<RedisUrl> parse_redis_url(std::string_view text);

}  // namespace heatsink::net
