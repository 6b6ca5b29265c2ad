// SPDX-License-Identifier: Apache-2.0
// Chooses the upstream topology that the options ask for.
#pragma once

#include <cstdint>
#include <memory>

#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// For one worker. All arguments outlive the result. `random`: the seed for pauses.
std::unique_ptr<Upstreams> make_upstreams(ServersState& shared, net::EventLoop& loop,
                                          copies::Counters& counters, Upstreams::Host& host,
                                          Upstream::Host& replies, std::uint64_t random);

}  // namespace heatsink::proxy
