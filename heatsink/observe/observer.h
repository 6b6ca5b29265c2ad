// SPDX-License-Identifier: Apache-2.0
// Runs the sources of a server or a cluster on a thread of its own.
#pragma once

#include <memory>
#include <optional>

#include "heatsink/observe/fleet.h"
#include "heatsink/observe/node_resolver.h"
#include "heatsink/observe/picture.h"

namespace heatsink::observe {

// The constructor starts the thread. The destructor stops it and closes all connections. Any thread
// may call the other functions.
class Observer {
 public:
  // `seed`: the server that the user named; ignored without FleetOptions::has_server.
  Observer(ServerAddress seed, FleetOptions options, ResolveNode resolve);
  ~Observer();
  Observer(const Observer&) = delete;

  // The current rows. Waits for the observing thread (milliseconds).
  Picture observe();
  // Calls Fleet::look_closer() in the next turn.
  void look_closer(std::optional<CloserKey> key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::observe
