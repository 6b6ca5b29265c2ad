// SPDX-License-Identifier: Apache-2.0
// What the keeper tells each worker: answers to fills, passed barriers, the server's commands.
#pragma once

#include <cstdint>
#include <memory>

#include "heatsink/resp/resp.h"

namespace heatsink::copies {

struct FillAnswer;

// A worker; a played one in tests. Called in the keeper's thread: returns at once, and the worker
// acts on it in a turn of its own, in the order of the calls.
class KeeperListener {
 public:
  virtual void deliver(std::shared_ptr<const FillAnswer> answer) = 0;
  // What the session has waited for has been processed: under this ticket, or (0) for its held
  // replies.
  virtual void release(std::uint64_t session, std::uint64_t ticket) = 0;
  virtual void set_commands(std::shared_ptr<const resp::CommandTable> commands) = 0;

 protected:
  ~KeeperListener() = default;
};

}  // namespace heatsink::copies
