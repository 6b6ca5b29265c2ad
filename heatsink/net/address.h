// SPDX-License-Identifier: Apache-2.0
// Addresses as a person writes them: host:port, and redis:// URLs. No socket, no look-up.
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

// Stands for the password where a URL is shown; nobody's password, so that it is not taken for one.
inline constexpr std::string_view kHiddenPassword = "***";

struct RedisUrl {
  HostPort address;
  std::string user;  // "": none given
  std::string password;
  std::uint32_t db = 0;
  std::string display() const;   // without the password
  std::string redacted() const;  // with kHiddenPassword, if there is a password
};
// redis://[[user][:password]@]host[:port][/db] (as redis-cli -u); user and password
// percent-decoded, port 6379 unless given. kUnsupported for rediss:// and redis-socket://. No error
// repeats the password.
Result<RedisUrl> parse_redis_url(std::string_view text);

}  // namespace heatsink::net
