// SPDX-License-Identifier: Apache-2.0
// Inside capture: builds the kernel's packet filter, which chooses the packets to copy (classic
// BPF: Documentation/networking/filter.rst of Linux; McCanne and Jacobson, USENIX 1993).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "heatsink/capture/packet.h"
#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

using FilterProgram = std::vector<sock_filter>;

// Returns a prologue for a filter. Of TCP over IPv4 and IPv6 it refuses
//   - segments without payload, unless they begin or end a connection,
//   - replies (segments to no port of `ports`) of connections that `watch` does not cover,
//   - on all interfaces at once (kLinuxCooked) outgoing loopback packets, which come in again.
// It leaves all other packets to the program placed after it. The kernel does not copy refused
// packets, so they cost only the filter. REQUIRES knows_link(link), at most 64 ports.
FilterProgram filter_prologue(LinkType link, const std::vector<std::uint16_t>& ports,
                              ReplyWatch watch);
bool knows_link(LinkType link);

// Replaces the socket's filter between two packets. False: the socket keeps its old filter.
bool attach_filter(int fd, const FilterProgram& program);

}  // namespace heatsink::capture
