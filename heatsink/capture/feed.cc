// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/feed.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/capture/live_watch.h"
#include "heatsink/capture/packet.h"
#include "heatsink/capture/pcap_handle.h"
#include "heatsink/capture/privileges.h"

namespace heatsink::capture {
namespace {

constexpr std::int64_t kNanosPerMicro = 1000;

// Only numeric hosts are accepted: they become part of the filter's text.
bool is_numeric(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

Status check(const FeedOptions& options) {
  const auto& ports = options.ports;
  if (ports.empty() || ports.size() > CaptureFeed::kPortsMax ||
      std::find(ports.begin(), ports.end(), 0) != ports.end()) {
    return invalid_argument(fmt::format(
        "a live capture needs 1 to {} server ports, each from 1 to 65535", CaptureFeed::kPortsMax));
  }
  if (options.hosts.size() > CaptureFeed::kHostsMax ||
      !std::all_of(options.hosts.begin(), options.hosts.end(), is_numeric)) {
    return invalid_argument(
        fmt::format("a live capture takes at most {} server addresses, each a numeric IP address",
                    CaptureFeed::kHostsMax));
  }
  return Unit{};
}

class PcapFeed final : public CaptureFeed {
 public:
  PcapFeed(const FeedOptions& options, PcapHandle handle, Decoder decoder)
      : handle_(std::move(handle)),
        link_(link_of(handle_.get())),
        decoder_(std::move(decoder)),
        watch_(handle_.get(), options) {}

  int fd() const override { return pcap_get_selectable_fd(handle_.get()); }

  Result<bool> drain(std::int64_t now_ns) override {
    watch_.adjust(decoder_, now_ns);
    const int taken =
        pcap_dispatch(handle_.get(), kPacketsPerDrain, on_packet, reinterpret_cast<u_char*>(this));
    if (taken < 0) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the capture has ended: {}",
                               one_line(pcap_geterr(handle_.get()), kPrintableBytesMax))};
    }
    if (taken == kPacketsPerDrain) return true;
    // only when no packet waits, else it would give up bytes that wait in the kernel
    decoder_.advance(now_ns);
    return false;
  }

  CaptureCounters counters() override {
    CaptureCounters counters = decoder_.counters();
    counters.reply_parts_now = watch_.parts();
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
                   std::int64_t{header->ts.tv_usec} * kNanosPerMicro;
    packet.link = feed->link_;
    packet.bytes = {reinterpret_cast<const char*>(bytes), header->caplen};
    packet.full_bytes = header->len;
    feed->watch_.see(packet);
    feed->decoder_.packet(packet);
  }

  PcapHandle handle_;
  LinkType link_;
  Decoder decoder_;
  LiveWatch watch_;
};

}  // namespace

Result<std::unique_ptr<CaptureFeed>> CaptureFeed::open(const FeedOptions& options,
                                                       OnCommand on_command,
                                                       const resp::CommandTable* table) {
  if (const Status sound = check(options); !sound) return sound.error();
  Result<PcapHandle> handle = open_pcap(options);
  if (!handle) return handle.error();
  if (options.drop_privileges) {
    if (const Status dropped = drop_privileges(); !dropped) return dropped.error();
  }
  DecoderOptions decoding;
  decoding.ports = options.ports;
  decoding.seed = std::random_device()();
  return std::unique_ptr<CaptureFeed>(std::make_unique<PcapFeed>(
      options, std::move(*handle), Decoder(decoding, std::move(on_command), table)));
}

}  // namespace heatsink::capture
