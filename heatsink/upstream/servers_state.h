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

  // For a choice among equals. Any thread.
  std::uint64_t next_random() { return random_.fetch_add(0x9E3779B97F4A7C15U) >> 16; }

 private:
  std::atomic<std::uint64_t> random_{seed};
};

}  // namespace heatsink::proxy
