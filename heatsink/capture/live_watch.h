// SPDX-License-Identifier: Apache-2.0
// Inside capture: changes the packet filter of a live capture while it runs.
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <optional>

#include "heatsink/capture/decoder.h"
#include "heatsink/capture/feed_options.h"
#include "heatsink/capture/kernel_filter.h"
#include "heatsink/capture/packet.h"
#include "heatsink/capture/reply_pace.h"

namespace heatsink::capture {

// Changes the kernel's filter as ReplyPace decides, and tells the decoder. While replies are
// watched in parts, and all servers and clients use loopback, the capture also ignores packets that
// this machine sends on other interfaces: to see them, the kernel would copy the head of each
// outgoing packet, on loopback too, where it then appears twice. The first packet on another
// interface ends that. Not thread-safe; does not own the handle.
class LiveWatch {
 public:
  // Outgoing packets are ignored after this time without a packet on another interface.
  static constexpr Nanos kLoopbackOnly = std::chrono::seconds(1);

  LiveWatch(pcap_t* handle, const FeedOptions& options);

  // Call it often. `now_ns`: since the epoch.
  void adjust(Decoder& decoder, std::int64_t now_ns);
  // Call it for each packet, before decoding it.
  void see(const Packet& packet);

  unsigned parts() const;  // the watched ones of ReplyWatch::kParts

 private:
  void change(Decoder& decoder, ReplyWatch to, std::int64_t now_ns);
  void look_out(Decoder& decoder, std::int64_t now_ns);
  bool attach(ReplyWatch watch);

  pcap_t* handle_;
  std::vector<std::uint16_t> ports_;
  LinkType link_;
  FilterProgram ports_and_hosts_;
  bool may_ignore_outgoing_;
  bool ignores_outgoing_ = false;
  std::optional<ReplyPace> pace_;  // nothing: all replies are always watched
  ReplyWatch watch_;
  bool is_changing_ = false;       // the decoder must still learn that the change is complete
  std::int64_t elsewhere_ns_ = 0;  // the latest packet on an interface other than loopback
  std::optional<std::int64_t> began_ns_;
};

}  // namespace heatsink::capture
