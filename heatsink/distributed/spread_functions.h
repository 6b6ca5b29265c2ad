// SPDX-License-Identifier: Apache-2.0
// Calls the server's functions for keys on several nodes.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/server.h"

namespace heatsink::distributed {

// A call of the library heatsink_spread: "spread_read" and so on. Each call has one key.
FunctionCall spread_call(std::string_view function, std::string key, std::vector<std::string> args);

// Sends all calls at once, and waits for the replies, which are in the order of the calls.
std::vector<Result<resp::Value>> call_all(Server& server, std::vector<FunctionCall> calls,
                                          TimePoint deadline);

// Random numbers for any thread, different in each process.
class SharedRandom {
 public:
  SharedRandom();
  std::uint64_t next() {
    const std::lock_guard lock(mutex_);
    return random_.next();
  }

 private:
  std::mutex mutex_;
  Random random_;  // guarded by mutex_
};

}  // namespace heatsink::distributed
