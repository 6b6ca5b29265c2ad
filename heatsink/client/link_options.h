// SPDX-License-Identifier: Apache-2.0
// Turns the options of a Client into those of the connections of its link.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/client/options.h"
#include "heatsink/client/runtime.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::client {

// How often overdue replies are looked for.
inline constexpr Nanos kRequestTick = Millis(50);

// All throw std::invalid_argument if an option cannot be used.
net::RedisUrl url_of(const ClientOptions& options);
net::TlsContext tls_of(const ClientOptions& options, const net::RedisUrl& url);
// Options and runtime outlive what it returns. `own_commands`: counts the commands that nobody has
// asked the library for; null: they are not counted.
topology::KeyServersOptions key_servers_options(const ClientOptions& options,
                                                const net::RedisUrl& url,
                                                const net::TlsContext& tls, Runtime& runtime,
                                                std::atomic<std::uint64_t>* own_commands);
fleet::LinkOptions fleet_options(const ClientOptions& options, const net::RedisUrl& url,
                                 const net::TlsContext& tls, Runtime& runtime,
                                 std::uint64_t hash_seed);

}  // namespace heatsink::client
