// SPDX-License-Identifier: Apache-2.0
// Opens the listening sockets of the workers, or shares those of another process among them.
#pragma once

#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/options.h"

namespace heatsink::proxy {

struct Listeners {
  std::vector<net::Fd> sockets;  // one for each worker
  net::SocketFile file;          // of a Unix socket
};

// At proxy.listen, one socket for each of proxy.workers.
Result<Listeners> listen_all(const policy::ProxyOptions& options);
// Those of another process. With more workers than sockets, some workers share one queue: each
// client is still accepted once.
Result<Listeners> share(std::vector<net::Fd> inherited, const policy::ProxyOptions& options);

}  // namespace heatsink::proxy
