// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/capture/testing/traffic.h"

namespace heatsink::capture {
namespace {

using testing::Frame;

Frame frame_on(LinkType link, bool v6 = false) {
  Frame frame;
  frame.from = v6 ? testing::ipv6(7, 40'000) : testing::ipv4(7, 40'000);
  frame.to = v6 ? testing::ipv6(1, 6379) : testing::ipv4(1, 6379);
  frame.seq = 0xFFFFFFFF;
  frame.ack = 77;
  frame.link = link;
  frame.payload = "PING\r\n";
  return frame;
}

Dissection dissect_bytes(LinkType link, std::string_view bytes, Segment& segment,
                         std::uint64_t left_out = 0) {
  Packet packet;
  packet.link = link;
  packet.bytes = bytes;
  packet.full_bytes = bytes.size() + left_out;
  return dissect(packet, segment);
}

void expect_ping(const Frame& frame) {
  const std::string bytes = frame.bytes();
  Segment segment;
  ASSERT_EQ(dissect_bytes(frame.link, bytes, segment), Dissection::kSegment);
  EXPECT_EQ(segment.from, frame.from);
  EXPECT_EQ(segment.to, frame.to);
  EXPECT_EQ(segment.seq, 0xFFFFFFFF);
  EXPECT_EQ(segment.ack, 77);
  EXPECT_TRUE(segment.has_ack);
  EXPECT_FALSE(segment.syn || segment.fin || segment.rst);
  EXPECT_EQ(segment.payload, "PING\r\n");
  EXPECT_EQ(segment.cut_bytes, 0);
}

TEST(Segment, OnEveryLink) {
  for (const LinkType link : {LinkType::kNull, LinkType::kEthernet, LinkType::kRaw, LinkType::kLoop,
                              LinkType::kLinuxCooked, LinkType::kLinuxCooked2}) {
    expect_ping(frame_on(link));
    expect_ping(frame_on(link, true));
  }
}

TEST(Segment, BehindTagsAndOptions) {
  Frame frame = frame_on(LinkType::kEthernet);
  frame.vlan_tags = 2;
  frame.ip_options = std::string(8, '\x01');
  frame.tcp_options = std::string(12, '\x01');
  expect_ping(frame);
  frame.vlan_tags = 5;
  Segment segment;
  EXPECT_EQ(dissect_bytes(frame.link, frame.bytes(), segment), Dissection::kOther);
}

TEST(Segment, BehindExtensionHeaders) {
  Frame frame = frame_on(LinkType::kEthernet, true);
  frame.first_extension = 0;
  // Hop-by-hop (8 bytes), destination options (16), an atomic fragment (8), then TCP.
  frame.extension_headers = std::string("\x3C\0\0\0\0\0\0\0", 8) +
                            std::string("\x2C\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) +
                            std::string("\x06\0\0\0\0\0\0\x09", 8);
  expect_ping(frame);
  frame.extension_headers[27] = '\x01';  // more fragments follow
  Segment segment;
  EXPECT_EQ(dissect_bytes(frame.link, frame.bytes(), segment), Dissection::kFragment);
}

TEST(Segment, FragmentsAreNone) {
  Segment segment;
  for (const std::uint16_t fragment : {std::uint16_t{0x2000}, std::uint16_t{0x0001}}) {
    Frame frame = frame_on(LinkType::kEthernet);
    frame.fragment = fragment;
    EXPECT_EQ(dissect_bytes(frame.link, frame.bytes(), segment), Dissection::kFragment);
  }
}

TEST(Segment, TheLinksPaddingIsNoPayload) {
  const Frame frame = frame_on(LinkType::kEthernet);
  const std::string bytes = frame.bytes() + std::string(20, '\0');
  Segment segment;
  ASSERT_EQ(dissect_bytes(frame.link, bytes, segment), Dissection::kSegment);
  EXPECT_EQ(segment.payload, "PING\r\n");
}

TEST(Segment, ALengthOfZeroMeansAllOfThePacket) {
  for (const bool v6 : {false, true}) {
    const Frame frame = frame_on(LinkType::kRaw, v6);
    std::string bytes = frame.bytes();
    const std::size_t length = v6 ? 4 : 2;
    bytes[length] = bytes[length + 1] = '\0';
    Segment segment;
    ASSERT_EQ(dissect_bytes(frame.link, bytes, segment, 10), Dissection::kSegment);
    EXPECT_EQ(segment.payload, "PING\r\n");
    EXPECT_EQ(segment.cut_bytes, 10);
  }
}

TEST(Segment, ASynCountsAsOne) {
  Frame frame = frame_on(LinkType::kRaw);
  frame.flags = Frame::kSyn;
  const std::string bytes = frame.bytes();
  Segment segment;
  ASSERT_EQ(dissect_bytes(frame.link, bytes, segment), Dissection::kSegment);
  EXPECT_TRUE(segment.syn);
  EXPECT_EQ(segment.seq, 0);
}

// Every prefix of a packet is either refused, or tells how much of its payload is missing.
TEST(Segment, CutPacketsTellWhatIsMissing) {
  for (const bool v6 : {false, true}) {
    const Frame frame = frame_on(LinkType::kEthernet, v6);
    const std::string bytes = frame.bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Segment segment;
      const Dissection outcome = dissect_bytes(frame.link, std::string_view(bytes).substr(0, size),
                                               segment, bytes.size() - size);
      if (size < bytes.size() - frame.payload.size()) {
        EXPECT_EQ(outcome, Dissection::kMalformed) << size;
      } else {
        EXPECT_EQ(outcome, Dissection::kSegment) << size;
        EXPECT_EQ(segment.cut_bytes, bytes.size() - size);
      }
    }
  }
}

TEST(Segment, OtherProtocolsAreTold) {
  const Frame frame = frame_on(LinkType::kEthernet);
  std::string udp = frame.bytes();
  udp[14 + 9] = 17;
  std::string arp = frame.bytes();
  arp[13] = 6;
  Segment segment;
  EXPECT_EQ(dissect_bytes(frame.link, udp, segment), Dissection::kOther);
  EXPECT_EQ(dissect_bytes(frame.link, arp, segment), Dissection::kOther);
  EXPECT_EQ(dissect_bytes(static_cast<LinkType>(147), arp, segment), Dissection::kOther);
}

TEST(Segment, LengthsThatContradictAreMalformed) {
  const Frame frame = frame_on(LinkType::kEthernet);
  for (const auto& [place, byte] : {std::pair<std::size_t, char>{14, '\x41'},
                                    {14, '\x4F'},
                                    {14 + 3, '\x10'},
                                    {14 + 20 + 12, '\x10'},
                                    {14 + 20 + 12, '\xF0'}}) {
    std::string bytes = frame.bytes();
    bytes[place] = byte;
    Segment segment;
    EXPECT_EQ(dissect_bytes(frame.link, bytes, segment), Dissection::kMalformed) << place;
  }
}

TEST(Endpoint, IsWrittenAsUsual) {
  EXPECT_EQ(testing::ipv4(7, 6379).text(), "10.0.0.7:6379");
  EXPECT_EQ(testing::ipv6(7, 6379).text(), "[fd00::7]:6379");
}

}  // namespace
}  // namespace heatsink::capture
