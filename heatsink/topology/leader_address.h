// SPDX-License-Identifier: Apache-2.0
// Turns an address that a server announces into one to connect to.
#pragma once

#include "heatsink/net/address.h"

namespace heatsink::topology {

// The one place where the addresses pass that Sentinels and servers announce. Behind NAT they may
// be addresses that this machine cannot reach.
inline net::HostPort reachable_address(net::HostPort announced) { return announced; }

}  // namespace heatsink::topology
