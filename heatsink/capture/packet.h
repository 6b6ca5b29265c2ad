// SPDX-License-Identifier: Apache-2.0
// Defines one captured packet.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink::capture {

inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

// The kind of header that begins a packet: https://www.tcpdump.org/linktypes.html
enum class LinkType : std::uint16_t {
  kNull = 0,  // four bytes: the address family in the capturing machine's byte order
  kEthernet = 1,
  kRaw = 101,   // the IP header
  kLoop = 108,  // as kNull, in network byte order
  kLinuxCooked = 113,
  kRawIpv4 = 228,
  kRawIpv6 = 229,
  kLinuxCooked2 = 276,
};

struct Packet {
  std::int64_t at_ns = 0;  // since the epoch
  LinkType link = LinkType::kEthernet;
  std::string_view bytes;        // the captured part
  std::uint64_t full_bytes = 0;  // the size on the network
};

}  // namespace heatsink::capture
