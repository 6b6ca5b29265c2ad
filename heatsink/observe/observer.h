// SPDX-License-Identifier: Apache-2.0
// The thread that runs sources against a server, or the servers of its cluster.
#pragma once

#include <memory>
#include <optional>

#include "heatsink/observe/fleet.h"
#include "heatsink/observe/node_resolver.h"
#include "heatsink/observe/picture.h"

namespace heatsink::observe {

// Starts its thread at once; the destructor ends it, closing all connections. Everything else may
// be called by any thread.
class Observer {
 public:
  // `seed`: the server that was named; of no meaning without FleetOptions::has_server.
  Observer(ServerAddress seed, FleetOptions options, ResolveNode resolve);
  ~Observer();
  Observer(const Observer&) = delete;

  // As it stands now. Waits for the thread's turn (milliseconds).
  Picture observe();
  // Fleet::look_closer(), from the next turn on.
  void look_closer(std::optional<CloserKey> key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::observe
