// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/pcap_handle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/capture/privileges.h"

namespace heatsink::capture {
namespace {

constexpr int kSnapBytes = 262'144;  // more than any segment, including merged ones (GRO)
constexpr int kWakeUpMs = 10;        // the kernel hands packets over in blocks, at least this often
constexpr std::string_view kLoopback = "lo";
constexpr int kRawOfLinux = 12;  // DLT_RAW; files use 101 for it

// Ports and hosts, with and without a VLAN tag; the kernel copies no other packet.
std::string filter_text(const FeedOptions& options, bool vlan) {
  std::string text = fmt::format("(tcp port {})", fmt::join(options.ports, " or tcp port "));
  if (!options.hosts.empty())
    text += fmt::format(" and (host {})", fmt::join(options.hosts, " or host "));
  return vlan ? fmt::format("({0}) or (vlan and ({0}))", text) : text;
}

bool set_filter(pcap_t* handle, const std::string& text) {
  bpf_program program{};
  if (pcap_compile(handle, &program, text.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) return false;
  const bool set = pcap_setfilter(handle, &program) == 0;
  pcap_freecode(&program);
  return set;
}

Error cannot_open(pcap_t* handle, int status, const std::string& interface) {
  if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
    return {ErrorCode::kPermission, how_to_permit()};
  if (status == PCAP_ERROR_NO_SUCH_DEVICE) {
    return {ErrorCode::kNotFound,
            fmt::format(
                "no interface '{}' on this machine: use one that 'ip link' lists, or 'any' for all",
                printable(interface))};
  }
  return {ErrorCode::kUnavailable,
          fmt::format("interface '{}' cannot be captured: {}", printable(interface),
                      one_line(pcap_geterr(handle), kPrintableBytesMax))};
}

}  // namespace

Result<PcapHandle> open_pcap(const FeedOptions& options) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  PcapHandle handle(pcap_create(options.interface.c_str(), error.data()));
  if (!handle) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("interface '{}' cannot be captured: {}", printable(options.interface),
                             one_line(error.data(), kPrintableBytesMax))};
  }
  const std::uint64_t buffer =
      std::min<std::uint64_t>(options.kernel_buffer.count, std::numeric_limits<int>::max());
  pcap_set_snaplen(handle.get(), kSnapBytes);
  pcap_set_promisc(handle.get(), 0);
  pcap_set_timeout(handle.get(), kWakeUpMs);
  pcap_set_buffer_size(handle.get(), static_cast<int>(buffer));
  // Microseconds on purpose: for nanoseconds libpcap makes the kernel stamp each packet of the
  // machine, captured or not. That costs the sender 0.12 us, as much as everything else for a
  // refused packet.
  pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_MICRO);
  const int status = pcap_activate(handle.get());
  if (status < 0) return cannot_open(handle.get(), status, options.interface);
  // libpcap skips outgoing packets on loopback; ignoring them here spares the kernel their
  // filtering. (A filter "inbound" does not work: libpcap evaluates it in user space, where it
  // loses the first packets.)
  if (options.interface == kLoopback) (void)ignore_outgoing(handle.get(), true);
  if (pcap_setnonblock(handle.get(), 1, error.data()) != 0 ||
      !(set_filter(handle.get(), filter_text(options, true)) ||
        set_filter(handle.get(), filter_text(options, false))))
    return cannot_open(handle.get(), PCAP_ERROR, options.interface);
  return handle;
}

LinkType link_of(pcap_t* handle) {
  const int type = pcap_datalink(handle);
  return type == kRawOfLinux ? LinkType::kRaw : static_cast<LinkType>(type);
}

// On a cooked socket the filter sees packets as DLT_RAW. The kernel has already removed VLAN tags.
FilterProgram ports_and_hosts(pcap_t* handle, const FeedOptions& options) {
  const bool is_cooked = link_of(handle) == LinkType::kLinuxCooked;
  const PcapHandle raw(pcap_open_dead(kRawOfLinux, kSnapBytes));
  bpf_program compiled{};
  const auto compiles = [&](bool vlan) {
    const std::string text = filter_text(options, vlan);
    return pcap_compile(is_cooked ? raw.get() : handle, &compiled, text.c_str(), 1,
                        PCAP_NETMASK_UNKNOWN) == 0;
  };
  if (!(!is_cooked && compiles(true)) && !compiles(false)) return {};
  FilterProgram out;
  for (const bpf_insn& each : std::span(compiled.bf_insns, compiled.bf_len))
    out.push_back({each.code, each.jt, each.jf, each.k});
  pcap_freecode(&compiled);
  return out;
}

bool ignore_outgoing(pcap_t* handle, bool ignored) {
  const int value = ignored ? 1 : 0;
  return setsockopt(pcap_fileno(handle), SOL_PACKET, PACKET_IGNORE_OUTGOING, &value,
                    sizeof value) == 0;
}

}  // namespace heatsink::capture
