// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/password.h"

#include <cstdlib>

#include "heatsink/base/secret_file.h"
#include "heatsink/net/net.h"

namespace heatsink::app {

std::string with_password(const std::string& url, std::string_view password) {
  if (password.empty()) return url;
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string written = ":";
  for (const char c : password) {
    const auto byte = static_cast<unsigned char>(c);
    written += {'%', kHex[byte >> 4U], kHex[byte & 0xFU]};
  }
  const std::size_t begin = url.find("://") + 3;
  const std::string_view rest = std::string_view(url).substr(begin);
  const bool has_user = !net::parse_upstream_url(url)->user.empty();
  const bool has_at = has_user || rest.starts_with('@') || rest.starts_with(":@");
  const std::size_t user_end = has_user ? url.find_first_of(":@", begin) : begin;
  const std::size_t place = has_at ? url.find('@', begin) + 1 : begin;
  return url.substr(0, user_end) + written + "@" + url.substr(place);
}

Status take_password(policy::ProxyOptions& options) {
  if (!options.sentinel_password_file.empty()) {
    Result<std::string> read = read_password_file(options.sentinel_password_file);
    if (!read.ok())
      return Error{read.error().code, "upstream.sentinel-password-file: " + read.error().message};
    options.sentinel_password = std::move(read).value();
  }
  std::string password;
  if (!options.upstream_password_file.empty()) {
    Result<std::string> read = read_password_file(options.upstream_password_file);
    if (!read.ok())
      return Error{read.error().code, "upstream.password-file: " + read.error().message};
    password = std::move(read).value();
  } else if (net::parse_upstream_url(options.upstream)->password.empty()) {
    const char* const variable = std::getenv(kUpstreamVariable);  // NOLINT(concurrency-mt-unsafe)
    password = variable == nullptr ? "" : variable;
  }
  options.upstream = with_password(options.upstream, password);
  return Unit{};
}

}  // namespace heatsink::app
