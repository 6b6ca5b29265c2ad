// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cassert>
#include <cstring>
#include <memory>
#include <string>

#include "heatsink/net/fd.h"

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
                   "; check the name, or write a numeric address"};
}

Result<std::vector<ResolvedAddress>> resolve_by(const HostPort& address, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // Without a host, returns the addresses to listen on.
  hints.ai_flags = AI_NUMERICSERV | flags | (address.host.empty() ? AI_PASSIVE : 0);
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

}  // namespace

Result<std::vector<ResolvedAddress>> resolve(const HostPort& address) {
  return resolve_by(address, 0);
}

Result<std::vector<ResolvedAddress>> resolve_numeric(const HostPort& address) {
  return resolve_by(address, AI_NUMERICHOST);
}

Result<std::vector<ResolvedAddress>> resolve_server(const RedisUrl& server) {
  if (server.unix_path.empty()) return resolve(server.address);
  return std::vector<ResolvedAddress>{unix_address(server.unix_path)};
}

// Only an address of this machine can be bound. The port of a datagram socket cannot disturb
// listeners.
bool is_of_this_machine(const ResolvedAddress& address) {
  if (address.family == AF_UNIX) return true;
  const Fd socket(::socket(address.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ResolvedAddress any_port = address;
  auto* const bytes = reinterpret_cast<sockaddr*>(any_port.bytes);
  if (address.family == AF_INET) reinterpret_cast<sockaddr_in*>(bytes)->sin_port = 0;
  if (address.family == AF_INET6) reinterpret_cast<sockaddr_in6*>(bytes)->sin6_port = 0;
  return socket && ::bind(socket.get(), bytes, address.length) == 0;
}

std::string host_text(const ResolvedAddress& address) {
  std::array<char, NI_MAXHOST> host{};
  if (address.family == AF_UNIX ||
      getnameinfo(reinterpret_cast<const sockaddr*>(address.bytes), address.length, host.data(),
                  host.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  const std::string text = host.data();
  return text.substr(0, text.find('%'));  // drops the interface of a link-local address
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
