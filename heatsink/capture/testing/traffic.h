// SPDX-License-Identifier: Apache-2.0
// For tests and benches: packets of conversations that never took place, and files of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/capture/endpoint.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture::testing {

inline void append_big(std::string& out, std::uint64_t value, int bytes) {
  while (bytes-- > 0) out += static_cast<char>(value >> (8 * bytes));
}

inline Endpoint ipv4(unsigned last_byte, std::uint16_t port) {
  Endpoint endpoint;
  endpoint.address = {0, 0, 0,    0,    0,  0, 0, 0,
                      0, 0, 0xFF, 0xFF, 10, 0, 0, static_cast<unsigned char>(last_byte)};
  endpoint.port = port;
  return endpoint;
}

inline Endpoint ipv6(unsigned last_byte, std::uint16_t port) {
  Endpoint endpoint;
  endpoint.address = {0xFD, 0, 0, 0, 0, 0, 0, 0,
                      0,    0, 0, 0, 0, 0, 0, static_cast<unsigned char>(last_byte)};
  endpoint.port = port;
  return endpoint;
}

// A segment as it is asked for; the flags as they stand in the header.
struct Frame {
  static constexpr unsigned kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
  Endpoint from;
  Endpoint to;
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  unsigned flags = kAck;
  std::string payload = {};
  std::int64_t at_ns = 0;
  LinkType link = LinkType::kEthernet;
  int vlan_tags = 0;
  std::string ip_options = {};         // IPv4; a multiple of 4 bytes
  std::string tcp_options = {};        // a multiple of 4 bytes
  std::string extension_headers = {};  // IPv6; begins with the next header's type ...
  std::uint8_t first_extension = 0;    // ... and this is its own
  std::uint16_t fragment = 0;          // IPv4's flags and offset

  std::string bytes() const { return link_header() + ip() + tcp() + payload; }

 private:
  std::string link_header() const {
    const unsigned type = from.is_ipv4() ? 0x0800 : 0x86DD;
    std::string out;
    switch (link) {
      case LinkType::kEthernet:
        out.assign(12, '\x02');
        for (int i = 0; i < vlan_tags; ++i) append_big(out, i == 0 ? 0x88A80001 : 0x81000001, 4);
        append_big(out, type, 2);
        break;
      case LinkType::kLinuxCooked:
        out.assign(14, '\0');
        append_big(out, type, 2);
        break;
      case LinkType::kLinuxCooked2:
        append_big(out, type, 2);
        out.append(18, '\0');
        break;
      case LinkType::kNull:
        out = std::string("\x02\0\0\0", 4);
        break;
      case LinkType::kLoop:
        out = std::string("\0\0\0\x02", 4);
        break;
      default:
        break;
    }
    return out;
  }

  std::string ip() const {
    const std::size_t carried = 20 + tcp_options.size() + payload.size();
    std::string out;
    if (from.is_ipv4()) {
      append_big(out, 0x45 + ip_options.size() / 4, 1);
      append_big(out, 0, 1);
      append_big(out, 20 + ip_options.size() + carried, 2);
      append_big(out, fragment, 4);
      append_big(out, 0x40060000, 4);
      out.append(from.address.begin() + 12, from.address.end());
      out.append(to.address.begin() + 12, to.address.end());
      return out + ip_options;
    }
    append_big(out, 0x60000000, 4);
    append_big(out, extension_headers.size() + carried, 2);
    append_big(out, extension_headers.empty() ? 6 : first_extension, 1);
    append_big(out, 64, 1);
    out.append(from.address.begin(), from.address.end());
    out.append(to.address.begin(), to.address.end());
    return out + extension_headers;
  }

  std::string tcp() const {
    std::string out;
    append_big(out, from.port, 2);
    append_big(out, to.port, 2);
    append_big(out, seq, 4);
    append_big(out, ack, 4);
    append_big(out, (20 + tcp_options.size()) / 4 << 4, 1);
    append_big(out, flags, 1);
    append_big(out, 0xFFFF, 2);
    append_big(out, 0, 4);
    return out + tcp_options;
  }
};

// A connection whose segments come one after the other, a tenth of a millisecond apart.
class TcpDialogue {
 public:
  static constexpr std::int64_t kStep = 100'000;  // ns

  TcpDialogue(Endpoint client, Endpoint server, std::uint32_t client_seq = 1000,
              std::uint32_t server_seq = 5000)
      : client_(client), server_(server), client_seq_(client_seq), server_seq_(server_seq) {}

  std::vector<Frame>& frames() { return frames_; }
  std::int64_t now_ns = 1'700'000'000'000'000'000;

  TcpDialogue& open() {
    send(true, Frame::kSyn);
    ++client_seq_;
    send(false, Frame::kSyn | Frame::kAck);
    ++server_seq_;
    return send(true, Frame::kAck);
  }
  TcpDialogue& request(std::string bytes) { return say(true, std::move(bytes)); }
  TcpDialogue& reply(std::string bytes) { return say(false, std::move(bytes)); }
  TcpDialogue& pause(std::int64_t ns) {
    now_ns += ns;
    return *this;
  }
  TcpDialogue& close() {
    send(true, Frame::kFin | Frame::kAck);
    ++client_seq_;
    send(false, Frame::kFin | Frame::kAck);
    ++server_seq_;
    return send(true, Frame::kAck);
  }
  TcpDialogue& reset() { return send(true, Frame::kRst | Frame::kAck); }

  // Bytes as one segment, whose number and acknowledgement are those of this moment.
  TcpDialogue& say(bool client, std::string bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    send(client, Frame::kAck, std::move(bytes));
    (client ? client_seq_ : server_seq_) += size;
    return *this;
  }
  TcpDialogue& send(bool client, unsigned flags, std::string payload = "") {
    Frame frame;
    frame.from = client ? client_ : server_;
    frame.to = client ? server_ : client_;
    frame.seq = client ? client_seq_ : server_seq_;
    frame.ack = (flags & Frame::kAck) == 0 ? 0 : client ? server_seq_ : client_seq_;
    frame.flags = flags;
    frame.payload = std::move(payload);
    frame.at_ns = now_ns;
    now_ns += kStep;
    frames_.push_back(std::move(frame));
    return *this;
  }

 private:
  Endpoint client_;
  Endpoint server_;
  std::uint32_t client_seq_;
  std::uint32_t server_seq_;
  std::vector<Frame> frames_;
};

// "GET k" as clients send it.
inline std::string request(const std::vector<std::string>& args) {
  std::string out = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string& arg : args)
    out += "$" + std::to_string(arg.size()) + "\r\n" + arg + "\r\n";
  return out;
}
inline std::string bulk(const std::string& bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
}

inline void append_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

// A pcap file of frames of one link type, little-endian, in nanoseconds.
inline std::string pcap_header(LinkType link) {
  std::string out;
  append_little(out, 0xA1B23C4D, 4);
  append_little(out, 2 | 4 << 16, 4);
  append_little(out, 0, 8);
  append_little(out, 262'144, 4);
  append_little(out, static_cast<std::uint64_t>(link), 4);
  return out;
}
inline void append_pcap(std::string& out, std::int64_t at_ns, std::string_view packet) {
  append_little(out, static_cast<std::uint64_t>(at_ns / 1'000'000'000), 4);
  append_little(out, static_cast<std::uint64_t>(at_ns % 1'000'000'000), 4);
  append_little(out, packet.size(), 4);
  append_little(out, packet.size(), 4);
  out += packet;
}
inline std::string pcap_of(const std::vector<Frame>& frames) {
  std::string out = pcap_header(frames.empty() ? LinkType::kEthernet : frames.front().link);
  for (const Frame& frame : frames) append_pcap(out, frame.at_ns, frame.bytes());
  return out;
}

}  // namespace heatsink::capture::testing
