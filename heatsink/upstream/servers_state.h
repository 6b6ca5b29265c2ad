// SPDX-License-Identifier: Apache-2.0
// Holds what the connections to the servers share among all workers of one proxy.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/command/known_scripts.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::proxy {

// Thread-safe, as each of its members is. Created before the threads start; outlives them.
struct ServersState : copies::NodeState {
  using copies::NodeState::NodeState;

  std::atomic<std::uint64_t> private_connections{0};  // connections that clients hold
  KnownScripts scripts;                               // in front of a cluster
};

}  // namespace heatsink::proxy
