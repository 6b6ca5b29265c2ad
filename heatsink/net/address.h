// SPDX-License-Identifier: Apache-2.0
// Parses addresses as people write them: host:port, unix:/path, and server URLs. Uses no socket and
// no look-up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::net {

struct HostPort {
  std::string
      host;  // a name, an IPv4 address, or an IPv6 address without brackets; "": all interfaces
  std::uint16_t port = 0;    // 0 in a listening address: any free port
  std::string text() const;  // "host:port", "[::1]:6379"; parse_host_port() accepts it
  bool operator==(const HostPort&) const = default;
};
// Accepts "host:port", "[::1]:port", ":port" (all interfaces). Error: kInvalidArgument, with the
// text and an example.
Result<HostPort> parse_host_port(std::string_view text);

// The size of sun_path (108 bytes with its end), minus the suffix of a new socket file's temporary
// name.
inline constexpr std::size_t kUnixPathBytesMax = 96;

// A listening address: TCP, or the path of a Unix socket.
struct Endpoint {
  HostPort tcp;
  std::string unix_path;  // "": `tcp` applies
  bool is_unix() const { return !unix_path.empty(); }
  std::string text() const;  // "host:port", "unix:/path"; parse_endpoint() accepts it
};
// Accepts "unix:/path" (absolute, at most kUnixPathBytesMax), or any text for parse_host_port().
Result<Endpoint> parse_endpoint(std::string_view text);

// The unit under which a peer ("10.0.0.7:54321", "[::1]:54321") is counted: its IPv4 address, or
// the /64 of its IPv6 address, because one machine may use any number of addresses in a /64. "":
// neither.
std::string network_of(std::string_view peer);

// Replaces the password where a URL is displayed. No real password is equal to it by mistake.
inline constexpr std::string_view kHiddenPassword = "***";

// The meaning of a URL's addresses, and so how the server of a key is found.
enum class Topology : std::uint8_t {
  kServer,    // one server, or any node of a cluster that is found out by asking it
  kCluster,   // nodes of a cluster
  kSentinel,  // Sentinels, which know the master's address
  kReplicas,  // a master and its replicas, in any order
};

struct RedisUrl {
  HostPort address;  // ignored if unix_path is set
  std::string user;  // "": none given
  std::string password;
  std::uint32_t db = 0;
  std::string unix_path = {};  // "": `address` applies
  bool tls = false;            // never with a unix_path
  Topology topology = Topology::kServer;
  std::vector<HostPort> others = {};  // after `address`; empty with kServer
  std::string master_name = {};       // with kSentinel
  std::string where() const;          // "host:port", "host:port,host:port", "unix:/path"
  std::string display() const;        // without the password
  std::string redacted() const;       // with kHiddenPassword, if there is a password
};
// Adds the missing scheme to a server that a user wrote: redis:// before host:port, unix:// before
// a path (also after "unix:").
std::string with_scheme(std::string_view server);

// Accepts [redis://][[user][:password]@]host[:port][/db] (as redis-cli -u); rediss:// for TLS;
// valkey:// and valkeys:// for the same; unix://[[user][:password]@]/path[?db=N]. Decodes percent
// signs in user, password and path; the default port is 6379. A path alone (/run/redis.sock) is a
// Unix socket. Errors never contain the password. The result has Topology::kServer.
Result<RedisUrl> parse_redis_url(std::string_view text);

// Accepts the same, and after a scheme for TCP "+cluster", "+sentinel" or "+replicas". These take
// one to kAddressesMax hosts, separated by commas: redis+cluster://a:7000,b:7000. Sentinels need
// the name of the master as the path, before the database: redis+sentinel://a,b,c/mymaster/0; their
// default port is 26379. A cluster has no database other than 0.
inline constexpr std::size_t kAddressesMax = 64;
Result<RedisUrl> parse_upstream_url(std::string_view text);

}  // namespace heatsink::net
