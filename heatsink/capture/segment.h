// SPDX-License-Identifier: Apache-2.0
// Inside capture: finds a packet's TCP segment after its link and network headers.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/capture/endpoint.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {

struct Segment {
  Endpoint from;
  Endpoint to;
  std::uint32_t seq = 0;  // of the first byte of the payload (after the SYN, if any)
  std::uint32_t ack = 0;  // if has_ack
  bool has_ack = false;
  bool syn = false;
  bool fin = false;
  bool rst = false;
  std::string_view payload;     // a view of the packet's bytes
  std::uint32_t cut_bytes = 0;  // bytes at the payload's end that were not captured
};

enum class Dissection {
  kSegment,
  kOther,      // valid, but not TCP, or an unknown link type
  kFragment,   // of an IP packet sent in fragments
  kMalformed,  // contradictory lengths, or incomplete headers
};

// Stateless; O(1). Checksums are not verified: with offloading, a capture at the sender sees
// packets before they are computed. Segments longer than any MTU (GRO, TSO) are accepted. A length
// of 0 in the IP header, as segments of 64 KiB and more have, means the rest of the packet.
Dissection dissect(const Packet& packet, Segment& segment);

// Inside dissect(): the packet after its link header.
struct NetworkPacket {
  Dissection outcome = Dissection::kSegment;
  unsigned version = 0;  // 4 or 6
  std::string_view bytes;
};
NetworkPacket strip_link_header(const Packet& packet);

}  // namespace heatsink::capture
