// SPDX-License-Identifier: Apache-2.0
// What a watch of the master says: which server is the master, and since when this was confirmed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"

namespace heatsink::topology {

struct LeaderVerdict {
  // Nothing: no server may be read or written now, and `problem` says why.
  std::optional<net::HostPort> leader;
  // A sentence for the operator, with what to do; "": all is well. It may be set with a leader,
  // too.
  std::string problem;
  // Copies from this leader may be served as far as this is recent: a majority of the Sentinels,
  // asked then or later, named it. max(): nobody votes in this topology. min(): not confirmed yet.
  TimePoint confirmed_at = TimePoint::min();
};

// Numbers for metrics. Of topologies without Sentinels both are 0.
struct SentinelCounts {
  std::uint64_t known = 0;
  std::uint64_t answering = 0;
};

// Turns an address that a server announces into one to connect to. The one place where the
// addresses pass that Sentinels and servers announce. Behind NAT they may be addresses that this
// machine cannot reach.
inline net::HostPort reachable_address(net::HostPort announced) { return announced; }

}  // namespace heatsink::topology
