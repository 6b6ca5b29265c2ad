// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace heatsink::capture {
namespace {

constexpr std::array<unsigned char, 12> kIpv4Mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

}  // namespace

bool Endpoint::is_ipv4() const {
  return std::equal(kIpv4Mapped.begin(), kIpv4Mapped.end(), address.begin());
}

std::string Endpoint::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (is_ipv4()) {
    inet_ntop(AF_INET, address.data() + kIpv4Mapped.size(), host.data(), host.size());
    return fmt::format("{}:{}", host.data(), port);
  }
  inet_ntop(AF_INET6, address.data(), host.data(), host.size());
  return fmt::format("[{}]:{}", host.data(), port);
}

}  // namespace heatsink::capture
