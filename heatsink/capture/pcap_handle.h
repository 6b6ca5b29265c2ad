// SPDX-License-Identifier: Apache-2.0
// Inside capture: an interface of this machine, opened with libpcap.
#pragma once

#include <pcap/pcap.h>

#include <memory>

#include "heatsink/base/result.h"
#include "heatsink/capture/feed_options.h"
#include "heatsink/capture/kernel_filter.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {

struct ClosePcap {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using PcapHandle = std::unique_ptr<pcap_t, ClosePcap>;

// Non-blocking; nothing but the ports and hosts passes. Errors: as CaptureFeed::open().
Result<PcapHandle> open_pcap(const FeedOptions& options);

LinkType link_of(pcap_t* handle);

// The ports and hosts as the kernel's filter has them, to stand behind a prologue; empty: none can
// be put in place of libpcap's. REQUIRES knows_link(link_of(handle)).
FilterProgram ports_and_hosts(pcap_t* handle, const FeedOptions& options);

// Whether what leaves this machine is left out from now on, before anything is done for it. (On
// loopback what leaves comes in again.) False: the kernel, before 4.20, does not know how.
bool ignore_outgoing(pcap_t* handle, bool ignored);

}  // namespace heatsink::capture
