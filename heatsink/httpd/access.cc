// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/access.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <string>

#include "heatsink/base/secret_file.h"

namespace heatsink::httpd {
namespace {

// Removes ":1234" from the end; false if it is not a port.
bool cut_port(std::string_view& host, std::size_t colon) {
  const std::string_view port = host.substr(colon + 1);
  const bool digits = std::all_of(port.begin(), port.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  host = host.substr(0, colon);
  return digits && port.size() <= 5;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  return std::equal(host.begin(), host.end(), kName.begin(), kName.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

}  // namespace

bool bears_token(std::optional<std::string_view> authorization, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  if (!authorization || authorization->size() < kScheme.size()) return false;
  const bool bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization->begin(),
                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  return bearer && same_secret(authorization->substr(kScheme.size()), token);
}

bool is_trusted_host(std::string_view host_header) {
  std::string_view host = host_header;
  boost::system::error_code error;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string address(host.substr(1, end - 1));
    host.remove_prefix(end + 1);
    if (!host.empty() && (host[0] != ':' || !cut_port(host, 0))) return false;
    boost::asio::ip::make_address_v6(address, error);
    return !error && address.find('%') == std::string::npos;  // a zone could be any word
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos && !cut_port(host, colon)) return false;
  if (is_localhost(host)) return true;
  boost::asio::ip::make_address_v4(std::string(host), error);
  return !error;
}

}  // namespace heatsink::httpd
