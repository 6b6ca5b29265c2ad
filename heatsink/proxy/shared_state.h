// SPDX-License-Identifier: Apache-2.0
// What all threads of one proxy see: what the keeper sees, too, and what only the workers need.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "heatsink/base/memory_limits.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/tls.h"
#include "heatsink/proxy/client_names.h"
#include "heatsink/proxy/connection_rate.h"
#include "heatsink/proxy/memory_budget.h"

namespace heatsink::proxy {

// Made before the threads start, and outlives them.
struct SharedState : copies::NodeState {
  using copies::NodeState::NodeState;

  MemoryBudget memory{options.maximum_memory.count > 0 ? options.maximum_memory
                                                       : share_for_buffers(memory_limits())};
  ClientNames client_names;
  ConnectionRate connection_rate{{options.connection_rate, options.connection_rate_per_network}};
  std::atomic<std::uint64_t> next_client_id{1};
  std::atomic<std::uint64_t> private_connections{0};  // that a client holds

  // For clients that connect now; replaced while the proxy runs when certificates are renewed.
  net::TlsContext client_tls() const {
    const std::lock_guard lock(tls_mutex_);
    return client_tls_;
  }
  void set_tls(policy::TlsContexts contexts) {
    upstream_address.set_tls(std::move(contexts.upstream));
    const std::lock_guard lock(tls_mutex_);
    client_tls_ = std::move(contexts.clients);
  }
  std::atomic<std::int64_t> handshakes{0};  // of clients, under way

 private:
  mutable std::mutex tls_mutex_;  // taken once per connection
  net::TlsContext client_tls_;
};

}  // namespace heatsink::proxy
