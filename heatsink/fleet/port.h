// SPDX-License-Identifier: Apache-2.0
// The server as the instances of a fleet see it: commands in, replies out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::fleet {

class Port {
 public:
  // Gets the reply, which may be the server's error, or why there is none, and the time.
  using Done = std::function<void(Result<resp::Value>, TimePoint)>;

  // Sends a command whose second word is its key. Calls `done` exactly once, now or later, in the
  // same thread; replies of one node come in the order of the commands. Must not block.
  virtual void ask(std::vector<std::string> words, Done done) = 0;

 protected:
  ~Port() = default;
};

}  // namespace heatsink::fleet
