// SPDX-License-Identifier: Apache-2.0
// The thread that runs sources against a server.
#pragma once

#include <memory>
#include <vector>

#include "heatsink/observe/link.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

// Starts its thread at once; the destructor ends it, closing all connections. Everything else may
// be called by any thread.
class Observer {
 public:
  // `login`: for a connection of its own, which asks what the busiest keys are.
  Observer(Server server, const Login& login, std::vector<std::unique_ptr<Source>> sources);
  ~Observer();
  Observer(const Observer&) = delete;

  // One for each source, as they stand now. Waits for the thread's turn (milliseconds).
  std::vector<Observation> observe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::observe
