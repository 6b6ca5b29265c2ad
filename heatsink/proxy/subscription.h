// SPDX-License-Identifier: Apache-2.0
// What a client has asked to subscribe to, and to speak, until the server has confirmed it.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

using Channels = std::set<std::string, std::less<>>;

// A SUBSCRIBE or its like, whose confirmations have not come. Points into its session.
struct Subscribing {
  Channels* channels;
  std::vector<std::string> added;
  bool hears_after;  // messages may come once it is confirmed
};

// One inside MULTI: EXEC confirms it.
struct QueuedSubscription {
  Channels* channels;
  std::string name;
  bool adds;
  std::size_t index;  // of its element in the reply to EXEC
};

// A HELLO inside MULTI: EXEC changes the protocol, if it is not refused.
struct QueuedHello {
  resp::Protocol protocol;
  std::size_t index;
};

}  // namespace heatsink::proxy
