// SPDX-License-Identifier: Apache-2.0
// What a client has asked to subscribe to, until the server has confirmed it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

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
};

}  // namespace heatsink::proxy
