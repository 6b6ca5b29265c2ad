// SPDX-License-Identifier: Apache-2.0
// The options of a live capture: the interface, ports and addresses of the servers, and limits.
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
  Bytes kernel_buffer = mebibytes(32);  // what waits in the kernel between two drain()s
  // A second; while there are more, those of a part of the connections are watched, by turns
  // (reply_pace.h), because the kernel copies a packet at the cost of whoever sends it. Infinity:
  // all are watched. Requests always are.
  double replies_max = 10'000;
  // The servers are this machine's own, so that no request goes out but over loopback.
  bool servers_are_here = false;
  // Once the socket is open: no capability is left, and root becomes the user who called sudo (or
  // nobody). Concerns the calling thread's capabilities: open before other threads are started.
  bool drop_privileges = true;
};

}  // namespace heatsink::capture
