// SPDX-License-Identifier: Apache-2.0
// Holds an address and a port as packets carry them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace heatsink::capture {

// A plain value of 18 bytes without padding, so that it can be hashed as bytes. An IPv4 address is
// kept as its IPv4-mapped IPv6 address (::ffff:a.b.c.d, RFC 4291 2.5.5.2).
struct Endpoint {
  std::array<unsigned char, 16> address{};
  std::uint16_t port = 0;  // in the host's byte order

  bool is_ipv4() const;
  std::string text() const;  // "10.0.0.7:6379", "[::1]:6379"

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  // See Bytes in base/units.h.
  friend auto operator<=>(Endpoint, Endpoint) = default;  // NOLINT(modernize-use-nullptr)
};
static_assert(sizeof(Endpoint) == 18);

}  // namespace heatsink::capture
