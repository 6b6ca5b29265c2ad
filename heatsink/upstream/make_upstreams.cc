// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/make_upstreams.h"

#include "heatsink/upstream/cluster_servers.h"

namespace heatsink::proxy {

std::unique_ptr<Upstreams> make_upstreams(ServersState& shared, net::EventLoop& loop,
                                          copies::Counters& counters, Upstreams::Host& host,
                                          Upstream::Host& replies, std::uint64_t random) {
  return std::make_unique<ClusterServers>(shared, loop, counters, host, replies, random);
}

}  // namespace heatsink::proxy
