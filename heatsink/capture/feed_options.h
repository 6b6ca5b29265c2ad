// SPDX-License-Identifier: Apache-2.0
// Defines the options of a live capture: interface, ports, addresses of the servers, and limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/units.h"

namespace heatsink::capture {

struct FeedOptions {
  std::string interface = "any";              // "eth0", "lo"; "any": all of them
  std::vector<std::uint16_t> ports = {6379};  // of the servers; at least one, at most kPortsMax
  // Numeric addresses of the servers, at most kHostsMax; empty: any server with these ports.
  std::vector<std::string> hosts;
  Bytes kernel_buffer = mebibytes(32);  // holds packets between two drain()s
  // Limit of replies per second. While there are more, the capture watches the replies of only a
  // part of the connections, in turns (reply_pace.h), because copying a packet delays its sender.
  // Infinity: it watches all. Requests are always captured.
  double replies_max = 10'000;
  // The servers run on this machine, so requests leave it only over loopback.
  bool servers_are_here = false;
  // After opening the socket, drops all capabilities; root becomes the user who called sudo, or
  // "nobody". Capabilities are per thread: open the capture before starting threads.
  bool drop_privileges = true;
};

}  // namespace heatsink::capture
