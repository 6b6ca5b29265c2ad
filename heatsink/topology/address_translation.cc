// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/address_translation.h"

#include <utility>

namespace heatsink::topology {
namespace {

Error refuse_pair(std::string_view pair, std::string_view why) {
  return invalid_argument(
      "\"" + std::string(pair.substr(0, 300)) + "\": " + std::string(why) +
      "; write announced=reached, as in 10.0.0.5:6379=127.0.0.1:7001 or 10.0.0.5=gateway");
}

// "[::1]" and names; no port.
bool is_bare_host(std::string_view text) {
  if (text.starts_with('[')) return text.ends_with(']') && text.size() > 2;
  return !text.empty() && text.find(':') == std::string_view::npos &&
         net::parse_host_port(std::string(text) + ":1").ok();
}

std::string without_brackets(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.size() - 2));
  return std::string(host);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<AddressTranslation> AddressTranslation::parse(std::string_view text) {
  AddressTranslation out;
  for (bool more = !trimmed(text).empty(); more;) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = trimmed(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return refuse_pair(pair, "there is no =");
    if (out.exact_.size() + out.hosts_.size() == kPairsMax)
      return refuse_pair(pair, "there are more than " + std::to_string(kPairsMax) + " pairs");
    const std::string_view from = trimmed(pair.substr(0, equals));
    const std::string_view to = trimmed(pair.substr(equals + 1));
    if (is_bare_host(from) && is_bare_host(to)) {
      out.hosts_[without_brackets(from)] = without_brackets(to);
      continue;
    }
    const Result<net::HostPort> announced = net::parse_host_port(from);
    const Result<net::HostPort> reached = net::parse_host_port(to);
    const bool sound = announced.ok() && reached.ok() && !announced->host.empty() &&
                       !reached->host.empty() && announced->port != 0 && reached->port != 0;
    if (!sound) return refuse_pair(pair, "both sides must be host:port, or both hosts");
    out.exact_[announced->text()] = *reached;
  }
  return out;
}

net::HostPort AddressTranslation::reached(const net::HostPort& announced) const {
  if (!exact_.empty()) {
    if (const auto found = exact_.find(announced.text()); found != exact_.end())
      return found->second;
  }
  if (const auto found = hosts_.find(announced.host); found != hosts_.end())
    return {found->second, announced.port};
  return announced;
}

}  // namespace heatsink::topology
