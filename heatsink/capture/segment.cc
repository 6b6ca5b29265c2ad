// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/segment.h"

#include <algorithm>

#include "heatsink/capture/packet_numbers.h"

namespace heatsink::capture {
namespace {

constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kTcpBytes = 20;
constexpr int kExtensionHeadersMax = 8;
// larger than any segment; limits what a file may claim
constexpr std::size_t kLeftOutMax = 1 << 24;

// The payload of an IP packet.
struct Carried {
  Dissection outcome = Dissection::kMalformed;
  std::string_view bytes;     // the captured part
  std::size_t cut_bytes = 0;  // bytes missing after it
};

void set_ipv4(Endpoint& endpoint, std::string_view address) {
  endpoint.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  std::copy(address.begin(), address.end(), endpoint.address.begin() + 12);
}

void set_ipv6(Endpoint& endpoint, std::string_view address) {
  std::copy(address.begin(), address.end(), endpoint.address.begin());
}

// The first `size` bytes. Bytes after them are padding of the link; missing ones were cut off.
Carried first(std::string_view bytes, std::size_t size) {
  const std::size_t there = std::min(bytes.size(), size);
  return {Dissection::kSegment, bytes.substr(0, there), size - there};
}

// `left_out`: bytes that the capture cut off the end of the packet.
Carried carried_by_ipv4(std::string_view ip, std::size_t left_out, Segment& segment) {
  if (ip.size() < kIpv4Bytes) return {};
  const std::size_t header = (byte_at(ip, 0) & 0xFU) * 4;
  std::size_t total = big16(ip, 2);
  if (total == 0) total = ip.size() + left_out;
  if (byte_at(ip, 0) >> 4 != 4 || header < kIpv4Bytes || header > total || header > ip.size())
    return {};
  if (byte_at(ip, 9) != kTcp) return {Dissection::kOther, {}, 0};
  if ((big16(ip, 6) & 0x3FFF) != 0) return {Dissection::kFragment, {}, 0};
  set_ipv4(segment.from, ip.substr(12, 4));
  set_ipv4(segment.to, ip.substr(16, 4));
  return first(ip.substr(header), total - header);
}

// RFC 8200 4: hop-by-hop, routing, destination options; RFC 4302 2: authentication.
std::size_t extension_bytes(std::uint8_t type, std::string_view bytes) {
  const std::size_t length = byte_at(bytes, 1);
  return type == 51 ? (length + 2) * 4 : (length + 1) * 8;
}

bool is_extension(std::uint8_t type) {
  return type == 0 || type == 43 || type == 44 || type == 51 || type == 60;
}

Carried carried_by_ipv6(std::string_view ip, std::size_t left_out, Segment& segment) {
  if (ip.size() < kIpv6Bytes || byte_at(ip, 0) >> 4 != 6) return {};
  std::size_t size = big16(ip, 4);
  if (size == 0) size = ip.size() - kIpv6Bytes + left_out;
  set_ipv6(segment.from, ip.substr(8, 16));
  set_ipv6(segment.to, ip.substr(24, 16));
  std::uint8_t type = byte_at(ip, 6);
  Carried carried = first(ip.substr(kIpv6Bytes), size);
  for (int headers = 0; is_extension(type); ++headers) {
    if (headers == kExtensionHeadersMax || carried.bytes.size() < 8) return {};
    // A fragment header with neither an offset nor more to come is a whole packet (RFC 6946).
    if (type == 44 && (big16(carried.bytes, 2) & 0xFFF9) != 0)
      return {Dissection::kFragment, {}, 0};
    const std::size_t length = type == 44 ? 8 : extension_bytes(type, carried.bytes);
    if (carried.bytes.size() < length) return {};
    type = byte_at(carried.bytes, 0);
    carried.bytes.remove_prefix(length);
  }
  if (type != kTcp) carried.outcome = Dissection::kOther;
  return carried;
}

Dissection read_tcp(std::string_view tcp, std::size_t cut_bytes, Segment& segment) {
  if (tcp.size() < kTcpBytes) return Dissection::kMalformed;
  const std::size_t header = (byte_at(tcp, 12) >> 4) * std::size_t{4};
  if (header < kTcpBytes || header > tcp.size() + cut_bytes) return Dissection::kMalformed;
  segment.from.port = big16(tcp, 0);
  segment.to.port = big16(tcp, 2);
  segment.seq = big32(tcp, 4);
  segment.ack = big32(tcp, 8);
  const std::uint8_t flags = byte_at(tcp, 13);
  segment.fin = (flags & 0x01) != 0;
  segment.syn = (flags & 0x02) != 0;
  segment.rst = (flags & 0x04) != 0;
  segment.has_ack = (flags & 0x10) != 0;
  if (segment.syn) ++segment.seq;
  const std::size_t missing = header > tcp.size() ? header - tcp.size() : 0;  // of the TCP options
  segment.payload = tcp.substr(std::min(header, tcp.size()));
  segment.cut_bytes = static_cast<std::uint32_t>(cut_bytes - missing);
  return Dissection::kSegment;
}

}  // namespace

Dissection dissect(const Packet& packet, Segment& segment) {
  const NetworkPacket network = strip_link_header(packet);
  if (network.outcome != Dissection::kSegment) return network.outcome;
  const std::size_t left_out =
      packet.full_bytes > packet.bytes.size()
          ? std::min<std::size_t>(packet.full_bytes - packet.bytes.size(), kLeftOutMax)
          : 0;
  const Carried carried = network.version == 4 ? carried_by_ipv4(network.bytes, left_out, segment)
                                               : carried_by_ipv6(network.bytes, left_out, segment);
  if (carried.outcome != Dissection::kSegment) return carried.outcome;
  return read_tcp(carried.bytes, carried.cut_bytes, segment);
}

}  // namespace heatsink::capture
