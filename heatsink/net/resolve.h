// SPDX-License-Identifier: Apache-2.0
// Resolves a host name to socket addresses.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::net {

// An address for the system calls. resolve() does not look up numeric hosts; it blocks while it
// resolves names.
struct ResolvedAddress {
  alignas(8) unsigned char bytes[128];  // a sockaddr_storage
  unsigned length = 0;
  int family = 0;
};
Result<std::vector<ResolvedAddress>> resolve(const HostPort& address);
// Resolves a numeric host; never blocks. Error: kNotFound, the host is a name.
Result<std::vector<ResolvedAddress>> resolve_numeric(const HostPort& address);
// or the address of its Unix socket
Result<std::vector<ResolvedAddress>> resolve_server(const RedisUrl& server);

// An address of this machine (of its network namespace), or a Unix socket.
bool is_of_this_machine(const ResolvedAddress& address);

// "10.0.0.7", "fe80::1": the numeric address; "" for a Unix socket.
std::string host_text(const ResolvedAddress& address);

// REQUIRES at most kUnixPathBytesMax bytes, or a little more: the size of sun_path.
ResolvedAddress unix_address(std::string_view path);

// The address in the form of the system calls.
inline const sockaddr* as_sockaddr(const ResolvedAddress& address) {
  return reinterpret_cast<const sockaddr*>(address.bytes);
}

}  // namespace heatsink::net
