// SPDX-License-Identifier: Apache-2.0
// Describes subscriptions and protocol changes that the server has not confirmed yet.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

using Channels = std::set<std::string, std::less<>>;

// A SUBSCRIBE or related command without its confirmations. Points into its session.
struct Subscribing {
  Channels* channels;
  std::vector<std::string> added;
  bool receives_after;  // messages may arrive after the confirmation
};

// A subscription inside MULTI: EXEC confirms it.
struct QueuedSubscription {
  Channels* channels;
  std::string name;
  bool adds;
  std::size_t index;  // its element in the reply to EXEC
};

// A HELLO inside MULTI: EXEC changes the protocol, unless the server refuses the HELLO.
struct QueuedHello {
  resp::Protocol protocol;
  std::size_t index;
};

}  // namespace heatsink::proxy
