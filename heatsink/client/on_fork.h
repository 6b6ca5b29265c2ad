// SPDX-License-Identifier: Apache-2.0
// Tells an object with threads that it is in a forked child, where its threads do not exist.
#pragma once

#include <functional>

namespace heatsink::client {

// Calls `in_child` in each child process that is forked while this object lives, before fork()
// returns there. Only the forking thread exists in the child, and locks of the other threads stay
// locked forever (POSIX, fork()). So `in_child` may only store to atomics. Any thread may create
// and destroy it, also in a child. It costs each fork a few nanoseconds.
class OnFork {
 public:
  explicit OnFork(std::function<void()> in_child);
  ~OnFork();
  OnFork(const OnFork&) = delete;

 private:
  friend struct ForkHandlers;
  const std::function<void()> in_child_;
};

}  // namespace heatsink::client
