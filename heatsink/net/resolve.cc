// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/resolve.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cassert>
#include <cstring>
#include <memory>
#include <string>

namespace heatsink::net {
namespace {

static_assert(sizeof(ResolvedAddress::bytes) >= sizeof(sockaddr_storage));

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

Error look_up_error(const HostPort& address, int code) {
  const bool may_pass = code == EAI_AGAIN || code == EAI_MEMORY || code == EAI_SYSTEM;
  return Error{may_pass ? ErrorCode::kUnavailable : ErrorCode::kNotFound,
               "cannot resolve \"" + address.host + "\": " + gai_strerror(code) +
                   "; check the name, or write the address in numbers"};
}

}  // namespace

Result<std::vector<ResolvedAddress>> resolve(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // Without a host: the addresses to listen on.
  hints.ai_flags = AI_NUMERICSERV | (address.host.empty() ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  if (const int code = getaddrinfo(host, port.c_str(), &hints, &found); code != 0)
    return look_up_error(address, code);
  const std::unique_ptr<addrinfo, FreeAddresses> owner(found);
  std::vector<ResolvedAddress> out;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    ResolvedAddress& resolved = out.emplace_back();
    std::memcpy(resolved.bytes, each->ai_addr, each->ai_addrlen);
    resolved.length = each->ai_addrlen;
    resolved.family = each->ai_family;
  }
  return out;
}

Result<std::vector<ResolvedAddress>> resolve_server(const RedisUrl& server) {
  if (server.unix_path.empty()) return resolve(server.address);
  return std::vector<ResolvedAddress>{unix_address(server.unix_path)};
}

ResolvedAddress unix_address(std::string_view path) {
  sockaddr_un address{};
  assert(path.size() < sizeof address.sun_path);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ResolvedAddress out;
  std::memcpy(out.bytes, &address, sizeof address);
  out.length = sizeof address;
  out.family = AF_UNIX;
  return out;
}

}  // namespace heatsink::net
