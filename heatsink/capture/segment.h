// SPDX-License-Identifier: Apache-2.0
// Inside capture: finds a packet's TCP segment behind its link and network headers.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/capture/endpoint.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {

struct Segment {
  Endpoint from;
  Endpoint to;
  std::uint32_t seq = 0;  // of the first byte of the payload (behind the SYN, if there is one)
  std::uint32_t ack = 0;  // if has_ack
  bool has_ack = false;
  bool syn = false;
  bool fin = false;
  bool rst = false;
  std::string_view payload;     // views the packet's bytes
  std::uint32_t cut_bytes = 0;  // of the payload's end: not captured
};

enum class Dissection {
  kSegment,
  kOther,      // sound, but no TCP, or of a link type not known here
  kFragment,   // of an IP packet that was sent in pieces
  kMalformed,  // lengths that contradict each other, or not even the headers were captured
};

// Stateless; O(1); checksums are not looked at, since a capture at the sender precedes them
// (offloading). Segments longer than any MTU (GRO, TSO) are taken as they are; a length of 0 in the
// IP header, which those of 64 KiB and more have, means all of the packet.
Dissection dissect(const Packet& packet, Segment& segment);

// Inside dissect(): what stands behind the link's header.
struct NetworkPacket {
  Dissection outcome = Dissection::kSegment;
  unsigned version = 0;  // 4 or 6
  std::string_view bytes;
};
NetworkPacket strip_link_header(const Packet& packet);

}  // namespace heatsink::capture
