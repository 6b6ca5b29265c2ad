// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/feed.h"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/capture/privileges.h"

namespace heatsink::capture {
namespace {

constexpr int kSnapBytes = 262'144;  // more than any segment, also those put together (GRO)
constexpr int kWakeUpMs = 10;        // the kernel hands packets over in blocks, at least so often
constexpr int kRawOfLinux = 12;      // DLT_RAW, which files have as 101
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

struct Close {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, Close>;

// The ports, also behind a VLAN tag. The kernel passes on nothing else.
std::string filter_text(const std::vector<std::uint16_t>& ports, bool vlan) {
  std::string text;
  for (const std::uint16_t port : ports)
    text += fmt::format("{}tcp port {}", text.empty() ? "" : " or ", port);
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
            fmt::format("there is no interface '{}' on this machine: 'ip link' lists them, and "
                        "'any' stands for all",
                        printable(interface))};
  }
  return {ErrorCode::kUnavailable,
          fmt::format("interface '{}' cannot be captured: {}", printable(interface),
                      one_line(pcap_geterr(handle), kPrintableBytesMax))};
}

Status check(const FeedOptions& options) {
  const auto& ports = options.ports;
  if (ports.empty() || ports.size() > CaptureFeed::kPortsMax ||
      std::find(ports.begin(), ports.end(), 0) != ports.end()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a live capture needs 1 .. {} ports of servers, each 1 .. 65535",
                             CaptureFeed::kPortsMax)};
  }
  return Unit{};
}

Result<Handle> open_handle(const FeedOptions& options) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  Handle handle(pcap_create(options.interface.c_str(), error.data()));
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
  pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
  const int status = pcap_activate(handle.get());
  if (status < 0) return cannot_open(handle.get(), status, options.interface);
  if (pcap_setnonblock(handle.get(), 1, error.data()) != 0 ||
      !(set_filter(handle.get(), filter_text(options.ports, true)) ||
        set_filter(handle.get(), filter_text(options.ports, false))))
    return cannot_open(handle.get(), PCAP_ERROR, options.interface);
  return handle;
}

LinkType link_of(pcap_t* handle) {
  const int type = pcap_datalink(handle);
  return type == kRawOfLinux ? LinkType::kRaw : static_cast<LinkType>(type);
}

class PcapFeed final : public CaptureFeed {
 public:
  PcapFeed(Handle handle, Decoder decoder)
      : handle_(std::move(handle)), link_(link_of(handle_.get())), decoder_(std::move(decoder)) {
    to_ns_ = pcap_get_tstamp_precision(handle_.get()) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
  }

  int fd() const override { return pcap_get_selectable_fd(handle_.get()); }

  Result<bool> drain(std::int64_t now_ns) override {
    const int taken =
        pcap_dispatch(handle_.get(), kPacketsPerDrain, on_packet, reinterpret_cast<u_char*>(this));
    if (taken < 0) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the capture has ended: {}",
                               one_line(pcap_geterr(handle_.get()), kPrintableBytesMax))};
    }
    decoder_.advance(now_ns);
    return taken == kPacketsPerDrain;
  }

  CaptureCounters counters() override {
    CaptureCounters counters = decoder_.counters();
    pcap_stat stat{};
    if (pcap_stats(handle_.get(), &stat) == 0)
      counters.dropped_by_kernel = std::uint64_t{stat.ps_drop} + stat.ps_ifdrop;
    return counters;
  }

 private:
  static void on_packet(u_char* self, const pcap_pkthdr* header, const u_char* bytes) {
    auto* const feed = reinterpret_cast<PcapFeed*>(self);
    Packet packet;
    packet.at_ns = std::int64_t{header->ts.tv_sec} * kNanosPerSecond +
                   std::int64_t{header->ts.tv_usec} * feed->to_ns_;
    packet.link = feed->link_;
    packet.bytes = {reinterpret_cast<const char*>(bytes), header->caplen};
    packet.full_bytes = header->len;
    feed->decoder_.packet(packet);
  }

  Handle handle_;
  LinkType link_;
  std::int64_t to_ns_ = 1000;  // of the fraction of a second
  Decoder decoder_;
};

}  // namespace

Result<std::unique_ptr<CaptureFeed>> CaptureFeed::open(const FeedOptions& options,
                                                       OnCommand on_command,
                                                       const resp::CommandTable* table) {
  if (const Status sound = check(options); !sound) return sound.error();
  Result<Handle> handle = open_handle(options);
  if (!handle) return handle.error();
  if (options.drop_privileges) {
    if (const Status dropped = drop_privileges(); !dropped) return dropped.error();
  }
  DecoderOptions decoding;
  decoding.ports = options.ports;
  decoding.seed = std::random_device()();
  return std::unique_ptr<CaptureFeed>(std::make_unique<PcapFeed>(
      std::move(*handle), Decoder(decoding, std::move(on_command), table)));
}

}  // namespace heatsink::capture
