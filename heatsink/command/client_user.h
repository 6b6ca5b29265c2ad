// SPDX-License-Identifier: Apache-2.0
// The login of a client that is not the proxy's.
#pragma once

#include "heatsink/redis/credentials.h"

namespace heatsink::proxy {

class Upstreams;

// Outlives the connections that were opened for it. user_servers.h makes it.
struct ClientUser {
  const redis::Credentials credentials;
  Upstreams* servers = nullptr;  // opened the connections
};

}  // namespace heatsink::proxy
