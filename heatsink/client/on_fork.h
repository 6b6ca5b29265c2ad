// SPDX-License-Identifier: Apache-2.0
// Tells an object with threads that it is now in a forked child, where its threads do not exist.
#pragma once

#include <functional>

namespace heatsink::client {

// Calls `in_child` in each child that the process forks while this object lives, before fork()
// returns there. Of all threads only the one that forked lives on in the child, and what the others
// had locked stays locked for ever (POSIX, fork()): `in_child` may store to atomics, and no more.
// Any thread makes and destroys it, also in a child. Every fork costs it a few nanoseconds.
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
