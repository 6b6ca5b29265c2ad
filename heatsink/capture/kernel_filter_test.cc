// SPDX-License-Identifier: Apache-2.0
// The programs as the kernel itself runs them: on a socket pair, whose messages are the packets.
#include "heatsink/capture/kernel_filter.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "heatsink/capture/testing/traffic.h"

namespace heatsink::capture::testing {
namespace {

const FilterProgram kAcceptAll{{BPF_RET | BPF_K, 0, 0, 0xFFFF}};

class Filtered {
 public:
  Filtered() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends_.data()), 0); }
  ~Filtered() {
    for (const int end : ends_) close(end);
  }
  Filtered(const Filtered&) = delete;

  void set(LinkType link, ReplyWatch watch, const std::vector<std::uint16_t>& ports = {6379}) {
    FilterProgram program = filter_prologue(link, ports, watch);
    program.insert(program.end(), kAcceptAll.begin(), kAcceptAll.end());
    ASSERT_TRUE(attach_filter(ends_[1], program));
  }
  bool passes(const std::string& packet) const {
    EXPECT_EQ(send(ends_[0], packet.data(), packet.size(), 0), std::ssize(packet));
    char byte = 0;
    return recv(ends_[1], &byte, 1, 0) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

// Of a client whose connection is in `part`; the lowest bit of the port is not looked at.
Frame frame(bool request, unsigned part, std::string payload, bool is_ipv6 = false) {
  const auto port = static_cast<std::uint16_t>(40'000 + 2 * part + 1);
  const Endpoint client = is_ipv6 ? ipv6(7, port) : ipv4(7, port);
  const Endpoint server = is_ipv6 ? ipv6(1, 6379) : ipv4(1, 6379);
  Frame out;
  out.from = request ? client : server;
  out.to = request ? server : client;
  out.payload = std::move(payload);
  return out;
}

struct Way {
  LinkType link;
  bool is_ipv6;
};
constexpr Way kWays[] = {{LinkType::kEthernet, false},    {LinkType::kEthernet, true},
                         {LinkType::kRaw, false},         {LinkType::kRaw, true},
                         {LinkType::kLinuxCooked, false}, {LinkType::kLinuxCooked, true}};

// A cooked socket's filter sees packets from the network header on.
std::string as_seen(Frame frame, LinkType link) {
  frame.link = link == LinkType::kLinuxCooked ? LinkType::kRaw : link;
  return frame.bytes();
}

TEST(KernelFilter, RequestsPassAndOfRepliesTheWatched) {
  Filtered filtered;
  for (const Way& way : kWays) {
    for (unsigned watched = 0; watched < ReplyWatch::kParts; ++watched) {
      filtered.set(way.link, ReplyWatch::only(watched));
      for (unsigned part = 0; part < ReplyWatch::kParts; ++part) {
        const auto passes = [&](bool request) {
          return filtered.passes(as_seen(frame(request, part, "x", way.is_ipv6), way.link));
        };
        EXPECT_TRUE(passes(true));
        EXPECT_EQ(passes(false), part == watched) << static_cast<int>(way.link) << way.is_ipv6;
      }
    }
  }
}

TEST(KernelFilter, TheDecoderMeansTheSameParts) {
  Filtered filtered;
  for (const unsigned parts : {0U, 0x01U, 0x80U, 0xA5U, ReplyWatch::kAll}) {
    filtered.set(LinkType::kRaw, {parts});
    for (unsigned port = 32'768; port < 32'800; ++port) {
      Frame reply = frame(false, 0, "x");
      reply.to.port = static_cast<std::uint16_t>(port);
      EXPECT_EQ(filtered.passes(as_seen(reply, LinkType::kRaw)),
                ReplyWatch{parts}.covers(reply.to.port));
    }
  }
}

TEST(KernelFilter, SegmentsWithoutPayloadAreRefusedUnlessTheyBeginOrEnd) {
  Filtered filtered;
  for (const Way& way : kWays) {
    filtered.set(way.link, ReplyWatch{});
    for (const bool request : {true, false}) {
      Frame empty = frame(request, 3, "", way.is_ipv6);
      EXPECT_FALSE(filtered.passes(as_seen(empty, way.link)));
      empty.tcp_options = std::string(12, '\1');
      EXPECT_FALSE(filtered.passes(as_seen(empty, way.link)));
      if (!way.is_ipv6) empty.ip_options = std::string(4, '\1');
      EXPECT_FALSE(filtered.passes(as_seen(empty, way.link)));
      Frame said = empty;
      said.payload = "x";
      EXPECT_TRUE(filtered.passes(as_seen(said, way.link)));
      for (const unsigned flags : {Frame::kSyn, Frame::kFin | Frame::kAck, Frame::kRst}) {
        empty.flags = flags;
        EXPECT_TRUE(filtered.passes(as_seen(empty, way.link))) << flags;
      }
    }
  }
}

TEST(KernelFilter, BeginningsAndEndsPassWhoeverSendsThem) {
  Filtered filtered;
  filtered.set(LinkType::kRaw, {0});
  Frame last = frame(false, 3, "-ERR max number of clients reached\r\n");
  EXPECT_FALSE(filtered.passes(as_seen(last, LinkType::kRaw)));
  last.flags = Frame::kFin | Frame::kAck;
  EXPECT_TRUE(filtered.passes(as_seen(last, LinkType::kRaw)));
}

TEST(KernelFilter, EachOfManyPortsIsAServers) {
  Filtered filtered;
  std::vector<std::uint16_t> ports;
  for (std::uint16_t port = 7000; port < 7064; ++port) ports.push_back(port);
  for (const LinkType link : {LinkType::kEthernet, LinkType::kLinuxCooked}) {
    filtered.set(link, {0}, ports);
    for (const std::uint16_t port : ports) {
      Frame request = frame(true, 0, "x");
      request.to.port = port;
      EXPECT_TRUE(filtered.passes(as_seen(request, link))) << port;
      std::swap(request.from, request.to);
      EXPECT_FALSE(filtered.passes(as_seen(request, link))) << port;
    }
  }
}

// Fragments, tags, extension headers, and protocols other than IPv4 and IPv6.
TEST(KernelFilter, WhatItDoesNotReadItLeaves) {
  Filtered filtered;
  filtered.set(LinkType::kEthernet, {0});
  Frame tagged = frame(false, 3, "x");
  tagged.vlan_tags = 1;
  EXPECT_TRUE(filtered.passes(tagged.bytes()));
  Frame fragment = frame(false, 3, "x");
  fragment.fragment = 0x2000;
  EXPECT_TRUE(filtered.passes(fragment.bytes()));
  Frame extended = frame(false, 3, "x", true);
  extended.first_extension = 0;
  extended.extension_headers = std::string("\6\0\1\4\0\0\0\0", 8);
  EXPECT_TRUE(filtered.passes(extended.bytes()));
  EXPECT_TRUE(filtered.passes(std::string(60, '\0')));
}

}  // namespace
}  // namespace heatsink::capture::testing
