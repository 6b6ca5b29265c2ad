// SPDX-License-Identifier: Apache-2.0
// Inside capture: what the kernel hands over of an interface's packets, as a program for its filter
// (classic BPF: Documentation/networking/filter.rst of Linux; McCanne and Jacobson, USENIX 1993).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "heatsink/capture/packet.h"
#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

using FilterProgram = std::vector<sock_filter>;

// A prologue that refuses, of TCP over IPv4 and IPv6,
//   - segments without a byte of payload, unless they begin or end a connection,
//   - replies (segments to no port of `ports`) of connections that `watch` does not cover,
//   - on all interfaces at once (kLinuxCooked) what goes out over loopback: it comes in again;
// and leaves all else to the program that is put behind it. What it refuses costs the filter alone:
// nothing is copied. REQUIRES knows_link(link), at most 64 ports.
FilterProgram filter_prologue(LinkType link, const std::vector<std::uint16_t>& ports,
                              ReplyWatch watch);
bool knows_link(LinkType link);

// In place of the filter that the socket has, from one packet to the next. False: it has it still.
bool attach_filter(int fd, const FilterProgram& program);

}  // namespace heatsink::capture
