// SPDX-License-Identifier: Apache-2.0
// Decides where a capture must listen to see a server's traffic, and whether that is possible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/observe/server_connection.h"

namespace heatsink::observe {

struct CaptureTarget {
  std::string interface = "any";
  std::vector<std::uint16_t> ports = {6379};
  std::vector<std::string> hosts;  // numeric; empty: any server with these ports
  bool is_here = false;            // the server is known to run on this machine
  bool all_replies = false;        // reads the replies of busy servers too (capture/feed.h)
  std::string unfit;               // why no capture can see the traffic; "": one can
  // Why `auto` must not choose a capture: it would see only part of the traffic, and the user did
  // not ask for that.
  std::string unfit_for_auto;

  std::string where() const;  // "port 6379 on interface any", for sentences
};

// `server` is null if only the ports are known. Empty `ports` mean the server's port, or 6379. A
// server on this machine has more addresses than the given one, so the capture takes all traffic of
// its port. For a server on another machine it takes only traffic to the server's addresses.
CaptureTarget capture_target(const ServerAddress* server, std::string interface,
                             std::vector<std::uint16_t> ports);

}  // namespace heatsink::observe
