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

// Opens a non-blocking capture of only these ports and hosts. Errors: those of CaptureFeed::open().
Result<PcapHandle> open_pcap(const FeedOptions& options);

LinkType link_of(pcap_t* handle);

// The kernel filter for ports and hosts, to be placed after a prologue. Empty: this capture must
// keep libpcap's filter. REQUIRES knows_link(link_of(handle)).
FilterProgram ports_and_hosts(pcap_t* handle, const FeedOptions& options);

// Makes the kernel skip outgoing packets before any other work (on loopback they come in again), or
// stops that. False: the kernel is older than 4.20 and cannot.
bool ignore_outgoing(pcap_t* handle, bool ignored);

}  // namespace heatsink::capture
