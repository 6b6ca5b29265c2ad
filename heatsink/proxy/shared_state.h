// SPDX-License-Identifier: Apache-2.0
// Holds the state that all threads of one proxy share: the keeper's part, and the workers' part.
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
#include "heatsink/proxy/drain.h"
#include "heatsink/proxy/known_scripts.h"
#include "heatsink/proxy/memory_budget.h"

namespace heatsink::proxy {

// Created before the threads start; outlives them.
struct SharedState : copies::NodeState {
  using copies::NodeState::NodeState;

  MemoryBudget memory{memory_max(options())};
  ClientNames client_names;
  ConnectionRate connection_rate{
      {options().connection_rate, options().connection_rate_per_network}};
  std::atomic<std::uint64_t> next_client_id{1};
  std::atomic<std::uint64_t> private_connections{0};  // connections that clients hold
  DrainProgress drain;
  KnownScripts scripts;              // in front of a cluster
  topology::SlotCounts slot_counts;  // the same

  // For a choice among equals. Any thread.
  std::uint64_t next_random() { return random_.fetch_add(0x9E3779B97F4A7C15U) >> 16; }

  // The bounds of things that have no configuration of their own follow it. Any thread.
  void follow(const policy::ProxyOptions& now) {
    memory.set_max(memory_max(now));
    connection_rate.set_rates({now.connection_rate, now.connection_rate_per_network});
  }

  // Set before the threads start. How many clients and private connections may be open, in sum
  // (descriptors.h).
  std::uint64_t connections_max = UINT64_MAX;
  bool has_descriptors() const {
    return clients.load(std::memory_order_relaxed) +
               private_connections.load(std::memory_order_relaxed) <
           connections_max;
  }
  // Memory that the process had in RAM when it began to serve, without program files, OpenSSL and
  // the counters of keys: stacks, and tables of fixed size.
  std::atomic<std::uint64_t> fixed_bytes{0};

  // The TLS context for new clients; replaced when certificates are reloaded.
  net::TlsContext client_tls() const {
    const std::lock_guard lock(tls_mutex_);
    return client_tls_;
  }
  void set_tls(policy::TlsContexts contexts) {
    cluster.set_tls(contexts.upstream);
    upstream_address.set_tls(std::move(contexts.upstream));
    const std::lock_guard lock(tls_mutex_);
    client_tls_ = std::move(contexts.clients);
  }
  std::atomic<std::int64_t> handshakes{0};  // TLS handshakes of clients in progress

 private:
  static Bytes memory_max(const policy::ProxyOptions& options) {
    return options.maximum_memory.count > 0 ? options.maximum_memory
                                            : share_for_buffers(memory_limits());
  }

  std::atomic<std::uint64_t> random_{seed};
  mutable std::mutex tls_mutex_;  // taken once per connection
  net::TlsContext client_tls_;
};

}  // namespace heatsink::proxy
