// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/kernel_filter.h"

#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <utility>

#include "heatsink/capture/packet_numbers.h"

namespace heatsink::capture {
namespace {

constexpr std::uint32_t kTypeAt = 12;          // in Ethernet's header
constexpr std::uint32_t kDataOffsetAt = 12;    // in TCP's header
constexpr std::uint32_t kFlagsAt = 13;         // in TCP's header
constexpr std::uint32_t kBeginsOrEnds = 0x07;  // FIN, SYN, RST
constexpr std::uint32_t kFragment = 0x3FFF;    // more fragments, or an offset

// The kernel offers packet metadata at negative offsets.
constexpr std::uint32_t ancillary(int which) {
  return static_cast<std::uint32_t>(SKF_AD_OFF + which);
}

// BPF jumps only lead forward, so their targets are labels that are bound later.
class Assembler {
 public:
  enum Label : std::uint8_t { kNext, kIpv4, kIpv6, kPorts, kNotLoopback, kRefuse, kLeave, kLabels };

  void op(int code, std::uint32_t operand = 0) {
    program_.push_back({static_cast<std::uint16_t>(code), 0, 0, operand});
    jumps_.push_back({kNext, kNext});
  }
  // Jumps to `yes` if the test holds, else to `no`.
  void jump(int test, std::uint32_t operand, Label yes, Label no = kNext) {
    op(BPF_JMP | test | BPF_K, operand);
    jumps_.back() = {yes, no};
  }
  void bind(Label label) { labels_[label] = program_.size(); }

  FilterProgram finish() {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      program_[i].jt = offset(i, jumps_[i].yes);
      program_[i].jf = offset(i, jumps_[i].no);
    }
    return std::move(program_);
  }

 private:
  struct Jump {
    Label yes, no;
  };
  std::uint8_t offset(std::size_t from, Label to) const {
    return to == kNext ? std::uint8_t{0} : static_cast<std::uint8_t>(labels_[to] - from - 1);
  }

  FilterProgram program_;
  std::vector<Jump> jumps_;
  std::array<std::size_t, kLabels> labels_{};
};

using enum Assembler::Label;

void refuse_twice_on_loopback(Assembler& code) {
  code.op(BPF_LD | BPF_W | BPF_ABS, ancillary(SKF_AD_PKTTYPE));
  code.jump(BPF_JEQ, PACKET_OUTGOING, kNext, kNotLoopback);
  code.op(BPF_LD | BPF_W | BPF_ABS, ancillary(SKF_AD_HATYPE));
  code.jump(BPF_JEQ, ARPHRD_LOOPBACK, kRefuse);
  code.bind(kNotLoopback);
}

void choose_family(Assembler& code, LinkType link) {
  if (link == LinkType::kEthernet) {
    code.op(BPF_LD | BPF_H | BPF_ABS, kTypeAt);
    code.jump(BPF_JEQ, ETH_P_IP, kIpv4);
    code.jump(BPF_JEQ, ETH_P_IPV6, kIpv6, kLeave);
  } else {
    code.op(BPF_LD | BPF_B | BPF_ABS, 0);
    code.op(BPF_ALU | BPF_AND | BPF_K, 0xF0);
    code.jump(BPF_JEQ, 0x40, kIpv4);
    code.jump(BPF_JEQ, 0x60, kIpv6, kLeave);
  }
}

// Loads TCP's header length into A, from the byte that holds it.
void tcp_header_length(Assembler& code) {
  code.op(BPF_ALU | BPF_RSH | BPF_K, 2);
  code.op(BPF_ALU | BPF_AND | BPF_K, 0x3C);
}

// ipv4() and ipv6() leave the length of the IP header in X. A segment too long for the length field
// has a total length of 0; minus the headers that is not 0, so it passes.
void ipv4(Assembler& code, std::uint32_t ip) {
  code.bind(kIpv4);
  code.op(BPF_LD | BPF_B | BPF_ABS, ip + 9);
  code.jump(BPF_JEQ, kTcp, kNext, kLeave);
  code.op(BPF_LD | BPF_H | BPF_ABS, ip + 6);
  code.jump(BPF_JSET, kFragment, kLeave);
  code.op(BPF_LDX | BPF_B | BPF_MSH, ip);
  code.op(BPF_LD | BPF_B | BPF_IND, ip + kFlagsAt);
  code.jump(BPF_JSET, kBeginsOrEnds, kLeave);
  code.op(BPF_LD | BPF_B | BPF_IND, ip + kDataOffsetAt);
  tcp_header_length(code);
  code.op(BPF_ALU | BPF_ADD | BPF_X);
  code.op(BPF_MISC | BPF_TAX);
  code.op(BPF_LD | BPF_H | BPF_ABS, ip + 2);
  code.op(BPF_ALU | BPF_SUB | BPF_X);
  code.jump(BPF_JEQ, 0, kRefuse);
  code.op(BPF_LDX | BPF_B | BPF_MSH, ip);
  code.jump(BPF_JEQ, 0, kPorts, kPorts);
}

void ipv6(Assembler& code, std::uint32_t ip) {
  const std::uint32_t tcp = ip + kIpv6Bytes;
  code.bind(kIpv6);
  code.op(BPF_LD | BPF_B | BPF_ABS, ip + 6);
  // segments behind extension headers pass: the program does not parse those
  code.jump(BPF_JEQ, kTcp, kNext, kLeave);
  code.op(BPF_LD | BPF_B | BPF_ABS, tcp + kFlagsAt);
  code.jump(BPF_JSET, kBeginsOrEnds, kLeave);
  code.op(BPF_LD | BPF_B | BPF_ABS, tcp + kDataOffsetAt);
  tcp_header_length(code);
  code.op(BPF_MISC | BPF_TAX);
  code.op(BPF_LD | BPF_H | BPF_ABS, ip + 4);
  code.op(BPF_ALU | BPF_SUB | BPF_X);
  code.jump(BPF_JEQ, 0, kRefuse);
  code.op(BPF_LDX | BPF_W | BPF_IMM, kIpv6Bytes);
}

// A segment to a server's port is a request and passes. A segment to another port is a reply; it
// passes if the bit of its connection's part is set.
void only_watched(Assembler& code, std::uint32_t ip, const std::vector<std::uint16_t>& ports,
                  ReplyWatch watch) {
  code.bind(kPorts);
  code.op(BPF_LD | BPF_H | BPF_IND, ip + 2);
  for (const std::uint16_t port : ports) code.jump(BPF_JEQ, port, kLeave);
  code.op(BPF_ALU | BPF_RSH | BPF_K, 1);
  code.op(BPF_ALU | BPF_AND | BPF_K, ReplyWatch::kParts - 1);
  code.op(BPF_MISC | BPF_TAX);
  code.op(BPF_LD | BPF_W | BPF_IMM, watch.parts);
  code.op(BPF_ALU | BPF_RSH | BPF_X);
  code.jump(BPF_JSET, 1, kLeave);
  code.bind(kRefuse);
  code.op(BPF_RET | BPF_K, 0);
  code.bind(kLeave);
}

}  // namespace

bool knows_link(LinkType link) {
  return link == LinkType::kEthernet || link == LinkType::kLinuxCooked || link == LinkType::kRaw;
}

// On a cooked socket the kernel's filter sees packets from the network header on.
FilterProgram filter_prologue(LinkType link, const std::vector<std::uint16_t>& ports,
                              ReplyWatch watch) {
  const std::uint32_t ip = link == LinkType::kEthernet ? kEthernetBytes : 0;
  Assembler code;
  if (link == LinkType::kLinuxCooked) refuse_twice_on_loopback(code);
  choose_family(code, link);
  ipv4(code, ip);
  ipv6(code, ip);
  only_watched(code, ip, ports, watch);
  return code.finish();
}

bool attach_filter(int fd, const FilterProgram& program) {
  // The kernel only reads the program, so the cast is safe.
  const sock_fprog code{static_cast<unsigned short>(program.size()),
                        const_cast<sock_filter*>(program.data())};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &code, sizeof code) == 0;
}

}  // namespace heatsink::capture
