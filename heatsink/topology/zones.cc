// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/zones.h"

#include <functional>

namespace heatsink::topology {
namespace {

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Error refuse_zone(std::string_view pair, std::string_view why) {
  return invalid_argument("\"" + std::string(pair.substr(0, 300)) + "\": " + std::string(why) +
                          "; write server=zone, as in 10.0.0.5:6379=eu-1a or 10.0.0.5=eu-1a");
}

// The key of a host without a port: a name, an IPv4 address, or an IPv6 address in brackets. "": it
// is none.
std::string host_key(std::string_view text) {
  const bool has_brackets = text.starts_with('[') && text.ends_with(']');
  if (has_brackets) text = text.substr(1, text.size() - 2);
  if (text.empty() || (!has_brackets && text.find(':') != std::string_view::npos)) return "";
  const std::string host(text);
  return net::parse_host_port(net::HostPort{host, 1}.text()).ok() ? host : "";
}

}  // namespace

Result<Zones> Zones::parse(std::string_view text) {
  Zones out;
  for (bool more = !without_spaces(text).empty(); more;) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = without_spaces(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return refuse_zone(pair, "there is no =");
    if (out.servers_.size() == kPairsMax)
      return refuse_zone(pair, "there are more than " + std::to_string(kPairsMax) + " pairs");
    const std::string_view server = without_spaces(pair.substr(0, equals));
    const std::string_view zone = without_spaces(pair.substr(equals + 1));
    if (zone.empty() || zone.size() > kNameBytesMax)
      return refuse_zone(pair, "a zone has 1 to " + std::to_string(kNameBytesMax) + " characters");
    const Result<net::HostPort> with_port = net::parse_host_port(server);
    const std::string host = host_key(server);
    if (with_port.ok() && !with_port->host.empty() && with_port->port != 0) {
      out.servers_[with_port->text()] = zone;
    } else if (!host.empty()) {
      out.servers_[host] = zone;
    } else {
      return refuse_zone(pair, "the server is neither host:port nor a host");
    }
  }
  return out;
}

std::string Zones::of(const net::HostPort& server) const {
  if (servers_.empty()) return "";
  if (const auto found = servers_.find(server.text()); found != servers_.end())
    return found->second;
  const auto found = servers_.find(server.host);
  return found == servers_.end() ? "" : found->second;
}

}  // namespace heatsink::topology
