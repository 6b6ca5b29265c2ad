// SPDX-License-Identifier: Apache-2.0
// Strips link headers: Ethernet with VLAN tags, Linux's "any" device, BSD's loopback, or none.
#include "heatsink/capture/packet_numbers.h"
#include "heatsink/capture/segment.h"

namespace heatsink::capture {
namespace {

constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint16_t kEtherTypeIpv6 = 0x86DD;
constexpr std::size_t kVlanBytes = 4;
constexpr int kVlanTagsMax = 4;  // two are usual (802.1ad)
constexpr std::size_t kCookedBytes = 16;
constexpr std::size_t kCooked2Bytes = 20;
constexpr std::size_t kFamilyBytes = 4;

constexpr NetworkPacket kNoHeader{Dissection::kMalformed, 0, {}};
constexpr NetworkPacket kOtherProtocol{Dissection::kOther, 0, {}};

bool is_vlan(std::uint16_t type) { return type == 0x8100 || type == 0x88A8 || type == 0x9100; }

// `type` is the link's number for the protocol of `bytes`. After a VLAN tag's type, `bytes` begin
// with the second half of the tag.
NetworkPacket by_ether_type(std::uint16_t type, std::string_view bytes) {
  for (int tags = 0; is_vlan(type); ++tags) {
    if (tags == kVlanTagsMax) return kOtherProtocol;
    if (bytes.size() < kVlanBytes) return kNoHeader;
    type = big16(bytes, 2);
    bytes.remove_prefix(kVlanBytes);
  }
  if (type == kEtherTypeIpv4) return {Dissection::kSegment, 4, bytes};
  if (type == kEtherTypeIpv6) return {Dissection::kSegment, 6, bytes};
  return kOtherProtocol;
}

NetworkPacket by_version(std::string_view bytes) {
  if (bytes.empty()) return kNoHeader;
  const unsigned version = byte_at(bytes, 0) >> 4;
  if (version != 4 && version != 6) return kOtherProtocol;
  return {Dissection::kSegment, version, bytes};
}

// The address family is AF_INET, or one of the system-specific numbers for AF_INET6. The version in
// the IP header says the same, without a byte order.
NetworkPacket behind_family(std::string_view bytes) {
  return bytes.size() < kFamilyBytes ? kNoHeader : by_version(bytes.substr(kFamilyBytes));
}

}  // namespace

NetworkPacket strip_link_header(const Packet& packet) {
  const std::string_view bytes = packet.bytes;
  switch (packet.link) {
    case LinkType::kEthernet:
      if (bytes.size() < kEthernetBytes) return kNoHeader;
      return by_ether_type(big16(bytes, kEthernetBytes - 2), bytes.substr(kEthernetBytes));
    case LinkType::kLinuxCooked:
      if (bytes.size() < kCookedBytes) return kNoHeader;
      return by_ether_type(big16(bytes, kCookedBytes - 2), bytes.substr(kCookedBytes));
    case LinkType::kLinuxCooked2:
      if (bytes.size() < kCooked2Bytes) return kNoHeader;
      return by_ether_type(big16(bytes, 0), bytes.substr(kCooked2Bytes));
    case LinkType::kNull:
    case LinkType::kLoop:
      return behind_family(bytes);
    case LinkType::kRaw:
    case LinkType::kRawIpv4:
    case LinkType::kRawIpv6:
      return by_version(bytes);
  }
  return kOtherProtocol;
}

}  // namespace heatsink::capture
