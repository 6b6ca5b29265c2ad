// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/listeners.h"

#include <cstddef>
#include <utility>

namespace heatsink::proxy {
namespace {

Result<Listeners> listen_tcp(const net::HostPort& address, std::size_t workers) {
  // The listeners share their port (SO_REUSEPORT), so bind() alone would not fail on a port of
  // another process of the same user.
  if (const Status unused = net::check_unused(address); !unused.ok()) return unused.error();
  Listeners listeners;
  net::HostPort each = address;
  for (std::size_t i = 0; i < workers; ++i) {
    Result<net::Fd> listener = net::listen_tcp(each);
    if (!listener.ok()) return listener.error();
    listeners.sockets.push_back(std::move(listener).value());
    each.port = net::local_port(listeners.sockets.front());  // all listen on the port of the first
  }
  return listeners;
}

}  // namespace

Result<Listeners> listen_all(const policy::ProxyOptions& options) {
  const auto workers = static_cast<std::size_t>(options.workers);
  Result<net::Endpoint> endpoint = net::parse_endpoint(options.listen);
  if (!endpoint.ok()) return endpoint.error();
  if (!endpoint->is_unix()) return listen_tcp(endpoint->tcp, workers);
  const Result<mode_t> mode = net::parse_file_mode(options.unix_mode);
  if (!mode.ok()) return mode.error();
  Result<net::UnixListener> listener = net::listen_unix(endpoint->unix_path, *mode, workers);
  if (!listener.ok()) return listener.error();
  return Listeners{std::move(listener->sockets), std::move(listener->file)};
}

Result<Listeners> share(std::vector<net::Fd> inherited, const policy::ProxyOptions& options) {
  Listeners listeners;
  listeners.sockets = std::move(inherited);
  const std::size_t given = listeners.sockets.size();
  for (std::size_t i = given; i < static_cast<std::size_t>(options.workers); ++i) {
    Result<net::Fd> copy = net::duplicate(listeners.sockets[i % given]);
    if (!copy.ok()) return copy.error();
    listeners.sockets.push_back(std::move(copy).value());
  }
  return listeners;
}

}  // namespace heatsink::proxy
