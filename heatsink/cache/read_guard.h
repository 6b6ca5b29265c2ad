// SPDX-License-Identifier: Apache-2.0
// Lets any thread read shared objects without a lock, and frees them when no thread can read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace heatsink::cache {

// Epoch-based reclamation (K. Fraser, "Practical lock-freedom", 2004) for threads without an event
// loop, which may start and end at any time. Threads with a loop use Epochs, whose look-ups cost
// nothing. There is one domain for the whole process, so an object that a ReadGuard protects may
// outlive its owner.
//
// To begin a read is two plain stores. The thread that frees issues the necessary memory fence for
// all threads, by membarrier(2). If the kernel does not have it, it is a store with a fence.
class ReadGuard {
 public:
  // Objects that this thread finds by seq_cst loads of shared pointers from now on are not freed
  // before the guard ends. Guards nest. The first one of a thread allocates memory; no other does.
  ReadGuard() noexcept;
  // Takes over a read that this thread has begun already; the destructor ends it.
  struct Adopted {};
  explicit ReadGuard(Adopted /*read*/) noexcept {}
  ~ReadGuard();
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
};

// Calls `free` in a later collect_retired(), when all guards that are older than this call have
// ended. Any thread. REQUIRES that new guards cannot find the object (a seq_cst store has unlinked
// it).
void retire(std::function<void()> free);

// Frees all retired objects that can be freed; returns how many remain. Any thread; takes
// O(threads + freed objects). The caller must not hold a lock that a `free` takes.
std::size_t collect_retired();

}  // namespace heatsink::cache
