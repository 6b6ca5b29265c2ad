// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/make_leader_watch.h"

#include <utility>

#include "heatsink/topology/leader_name_watch.h"
#include "heatsink/topology/replica_watch.h"
#include "heatsink/topology/sentinel_watch.h"

namespace heatsink::topology {

bool must_be_found(const net::RedisUrl& url) {
  return url.topology == net::Topology::kSentinel || url.topology == net::Topology::kReplicas;
}

bool is_watched(const net::RedisUrl& url) {
  if (must_be_found(url)) return true;
  return url.topology == net::Topology::kServer && url.unix_path.empty() &&
         !LeaderResolver::is_numeric(url.address.host);
}

std::unique_ptr<LeaderWatch> watch_leader(net::EventLoop& loop, LeaderWatchOptions options,
                                          ServerCredentials credentials,
                                          LeaderWatch::Listener& listener) {
  if (!is_watched(options.url)) return nullptr;
  if (options.url.topology == net::Topology::kSentinel)
    return std::make_unique<SentinelWatch>(loop, std::move(options), std::move(credentials),
                                           listener);
  if (options.url.topology == net::Topology::kReplicas)
    return std::make_unique<ReplicaWatch>(loop, std::move(options), std::move(credentials),
                                          listener);
  return std::make_unique<NameWatch>(loop, std::move(options), listener);
}

}  // namespace heatsink::topology
