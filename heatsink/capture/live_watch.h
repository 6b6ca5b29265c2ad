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

// Changes the kernel's filter as ReplyPace says, and tells the decoder. Where servers and clients
// all speak over loopback, what this machine sends on its other interfaces is ignored as well while
// replies are watched in parts: looking at it takes the kernel a copy of each packet's head, also
// of those of loopback, which it then sees twice. The first packet on another interface ends that.
// Not thread-safe; does not own the handle.
class LiveWatch {
 public:
  // So long nothing has come on another interface before what goes out is ignored.
  static constexpr Nanos kLoopbackOnly = std::chrono::seconds(1);

  LiveWatch(pcap_t* handle, const FeedOptions& options);

  // To be called often, with the time since the epoch.
  void adjust(Decoder& decoder, std::int64_t now_ns);
  // Of each packet, before it is decoded.
  void see(const Packet& packet);

  unsigned parts() const;  // of ReplyWatch::kParts, that are watched

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
  std::optional<ReplyPace> pace_;  // nothing: all replies are watched, for good
  ReplyWatch watch_;
  bool is_changing_ = false;       // the decoder is yet to be told that it has changed
  std::int64_t elsewhere_ns_ = 0;  // the latest packet on another interface than loopback
  std::optional<std::int64_t> began_ns_;
};

}  // namespace heatsink::capture
