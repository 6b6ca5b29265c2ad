// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/make_upstreams.h"

#include "heatsink/proxy/single_server.h"

namespace heatsink::proxy {

std::unique_ptr<Upstreams> make_upstreams(SharedState& shared, net::EventLoop& loop,
                                          copies::Counters& counters, Upstreams::Host& host,
                                          std::uint64_t random) {
  return std::make_unique<SingleServer>(shared, shared.upstream_address, loop, counters, host,
                                        random);
}

}  // namespace heatsink::proxy
