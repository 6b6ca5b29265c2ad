// SPDX-License-Identifier: Apache-2.0
// Resolves the name of a host to addresses that a socket takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::net {

// The addresses of a host, numeric ones without asking anyone. Blocks while a name is resolved.
struct ResolvedAddress {
  alignas(8) unsigned char bytes[128];  // a sockaddr_storage
  unsigned length = 0;
  int family = 0;
};
Result<std::vector<ResolvedAddress>> resolve(const HostPort& address);
Result<std::vector<ResolvedAddress>> resolve_server(const RedisUrl& server);  // or its Unix socket

// One of this machine's own (of its network namespace), or a Unix socket.
bool is_of_this_machine(const ResolvedAddress& address);

// "10.0.0.7", "fe80::1": the address alone, in numbers; "" of a Unix socket.
std::string host_text(const ResolvedAddress& address);

// REQUIRES at most kUnixPathBytesMax bytes, or a little more: what sun_path holds.
ResolvedAddress unix_address(std::string_view path);

}  // namespace heatsink::net
