// SPDX-License-Identifier: Apache-2.0
// Chooses the watch that a configured upstream needs.
#pragma once

#include <memory>

#include "heatsink/net/net.h"
#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

// Null: there is nothing to watch, because the server cannot move (a Unix socket, a numeric
// address, a cluster). All references must outlive it.
std::unique_ptr<LeaderWatch> watch_leader(net::EventLoop& loop, LeaderWatchOptions options,
                                          ServerCredentials credentials,
                                          LeaderWatch::Listener& listener);
bool is_watched(const net::RedisUrl& url);     // watch_leader() returns a watch
bool must_be_found(const net::RedisUrl& url);  // the addresses of the URL are not the server's

}  // namespace heatsink::topology
