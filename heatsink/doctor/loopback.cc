// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/loopback.h"

#include "heatsink/net/net.h"

namespace heatsink::doctor {

bool listens_beyond_loopback(std::string_view address) {
  const Result<net::Endpoint> parsed = net::parse_endpoint(address);
  if (!parsed.ok()) return true;
  if (parsed->is_unix()) return false;
  const std::string& host = parsed->tcp.host;
  return host != "localhost" && host != "::1" && !host.starts_with("127.");
}

}  // namespace heatsink::doctor
