// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::observe {
namespace {

constexpr std::uint16_t kRedisPort = 6379;

}  // namespace

std::string CaptureTarget::where() const {
  std::string out = fmt::format("port{} {}", ports.size() == 1 ? "" : "s", fmt::join(ports, ", "));
  if (!hosts.empty()) out += fmt::format(" of {}", fmt::join(hosts, ", "));
  return out + " on interface " + printable(interface);
}

CaptureTarget capture_target(const ServerAddress* server, std::string interface,
                             std::vector<std::uint16_t> ports) {
  CaptureTarget out;
  out.interface = std::move(interface);
  out.ports = std::move(ports);
  if (out.ports.empty()) out.ports = {server == nullptr ? kRedisPort : server->url.address.port};
  if (server == nullptr) return out;
  if (!server->url.unix_path.empty())
    out.unfit = "the server is reached by a Unix socket, which has no packets to capture";
  if (server->url.tls) out.unfit = "the server uses TLS (rediss://), which a capture cannot read";
  out.is_here = std::ranges::any_of(server->addresses, net::is_of_this_machine);
  if (out.is_here) return out;
  out.unfit_for_auto =
      "the server is on another machine, "
      "so not all of its traffic passes here (use --source capture to see only this part)";
  for (const net::ResolvedAddress& address : server->addresses)
    out.hosts.push_back(net::host_text(address));
  return out;
}

}  // namespace heatsink::observe
