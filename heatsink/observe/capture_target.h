// SPDX-License-Identifier: Apache-2.0
// Finds out where a capture must listen to see a server's traffic, and whether it can.
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
  bool is_here = false;            // the server is known to be of this machine
  bool all_replies = false;        // also of busy servers (capture/feed.h)
  std::string unfit;               // why no capture can see it; "": one can
  // Why `auto` leaves it alone: without being asked for, nobody is shown a part for the whole.
  std::string unfit_for_auto;

  std::string where() const;  // "port 6379 on interface any", for sentences
};

// `server`: null, if only the ports are known. `ports`: empty, the server's, or 6379. The traffic
// of a server on this machine is all of its port (it has other addresses than the one named); of
// another machine's only what goes to its addresses.
CaptureTarget capture_target(const ServerAddress* server, std::string interface,
                             std::vector<std::uint16_t> ports);

}  // namespace heatsink::observe
