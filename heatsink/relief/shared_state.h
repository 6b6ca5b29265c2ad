// SPDX-License-Identifier: Apache-2.0
// Holds the state that all threads of one proxy share.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "heatsink/base/process_limits.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/tls.h"
#include "heatsink/relief/client_names.h"
#include "heatsink/relief/connection_rate.h"
#include "heatsink/relief/drain.h"
#include "heatsink/relief/memory_budget.h"
#include "heatsink/upstream/servers_state.h"

namespace heatsink::proxy {

// The part of the clients: those of the keeper and of the connections to servers are its bases.
// Created before the threads start; outlives them.
struct SharedState : ServersState {
  using ServersState::ServersState;

  MemoryBudget memory{memory_max(options())};
  ClientNames client_names;
  ConnectionRate connection_rate{
      {options().connection_rate, options().connection_rate_per_network}};
  std::atomic<std::uint64_t> next_client_id{1};
  DrainProgress drain;
  std::atomic<std::uint64_t> hot_subscribers{0};  // of __heatsink__:hot

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
  // See NearTable. Tests play with fewer.
  std::size_t clients_told_at_once = 1024;
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

  mutable std::mutex tls_mutex_;  // taken once per connection
  net::TlsContext client_tls_;
};

}  // namespace heatsink::proxy
