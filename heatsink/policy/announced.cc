// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/announced.h"

#include <algorithm>
#include <utility>

namespace heatsink::policy {
namespace {

// An address that a client can connect to, unlike one to listen on.
Result<net::HostPort> parse_announced(std::string_view text, std::string_view option) {
  Result<net::HostPort> address = net::parse_host_port(text);
  if (!address.ok()) return invalid_argument(std::string(option) + ": " + address.error().message);
  if (address->host.empty() || address->port == 0)
    return invalid_argument(
        std::string(option) + ": '" + std::string(text) +
        "' is no address that a client can connect to; write host:port, as in 10.0.0.5:6380");
  return address;
}

Result<std::vector<net::HostPort>> parse_list(std::string_view text) {
  std::vector<net::HostPort> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, end - at);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    Result<net::HostPort> address = parse_announced(word, "proxy.announce-addresses");
    if (!address.ok()) return address.error();
    if (out.size() == kAnnouncedMax)
      return invalid_argument("proxy.announce-addresses names more than " +
                              std::to_string(kAnnouncedMax) + " proxies: name fewer");
    const bool is_known = std::any_of(out.begin(), out.end(), [&](const net::HostPort& each) {
      return each.text() == address->text();
    });
    if (is_known)
      return invalid_argument("proxy.announce-addresses names " + address->text() +
                              " twice: name each proxy once");
    out.push_back(std::move(address).value());
    at = end + 1;
  }
  return out;
}

// A dual-stack listener shows IPv4 clients their address as IPv6.
void unmap(std::string& host) {
  constexpr std::string_view kMapped = "::ffff:";
  if (host.starts_with(kMapped) && host.find('.') != std::string::npos)
    host.erase(0, kMapped.size());
}

Result<net::HostPort> own_address(const ProxyOptions& options, std::string_view reached) {
  if (!options.announce_address.empty())
    return parse_announced(options.announce_address, "proxy.announce-address");
  Result<net::HostPort> address = net::parse_host_port(reached);
  if (!address.ok() || address->port == 0)
    return invalid_argument("the client came to no TCP address: set proxy.announce-address");
  unmap(address->host);
  return address;
}

}  // namespace

Result<Announced> announced(const ProxyOptions& options, std::string_view reached) {
  Result<net::HostPort> own = own_address(options, reached);
  if (!own.ok()) return own.error();
  Announced out;
  if (options.announce_addresses.empty()) {
    out.nodes.push_back(std::move(own).value());
    return out;
  }
  Result<std::vector<net::HostPort>> all = parse_list(options.announce_addresses);
  if (!all.ok()) return all.error();
  out.nodes = std::move(all).value();
  const auto self =
      std::find_if(out.nodes.begin(), out.nodes.end(),
                   [&](const net::HostPort& each) { return each.text() == own->text(); });
  if (self == out.nodes.end())
    return invalid_argument("proxy.announce-addresses does not name this proxy, " + own->text() +
                            ": set proxy.announce-address to the entry that is this proxy");
  out.self = static_cast<std::size_t>(self - out.nodes.begin());
  return out;
}

std::string announced_fault(const ProxyOptions& options) {
  const bool is_set = !options.announce_address.empty() || !options.announce_addresses.empty();
  if (!presents_cluster(options)) {
    return is_set ? "proxy.announce-address and proxy.announce-addresses need proxy.present-as: "
                    "cluster; set it, or remove them"
                  : "";
  }
  const Result<net::Endpoint> listen = net::parse_endpoint(options.listen);
  if (options.announce_address.empty()) {
    if (!options.announce_addresses.empty())
      return "proxy.announce-addresses is set and proxy.announce-address is not: "
             "set it to the entry that is this proxy";
    if (listen.ok() && listen->is_unix())
      return "proxy.present-as is cluster and proxy.listen is a Unix socket, "
             "whose address no cluster client can use: set proxy.announce-address";
    return "";
  }
  const Result<Announced> read = announced(options, "");
  return read.ok() ? "" : read.error().message;
}

}  // namespace heatsink::policy
