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
// nothing. There is one domain for the whole process, so an object that a Pin protects may outlive
// its owner.
//
// Pinning is two plain stores. The thread that frees issues the necessary memory fence for all
// threads, by membarrier(2). If the kernel does not have it, a pin is a store with a fence.
class Pin {
 public:
  // Objects that this thread finds by seq_cst loads of shared pointers from now on are not freed
  // before the pin ends. Pins nest. The first pin of a thread allocates memory; no other does.
  Pin() noexcept;
  // Takes over a pin that this thread has already; the destructor ends it.
  struct Adopted {};
  explicit Pin(Adopted /*pin*/) noexcept {}
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
};

// Calls `free` in a later collect_retired(), when all pins that are older than this call have
// ended. Any thread. REQUIRES that new pins cannot find the object (a seq_cst store has unlinked
// it).
void retire(std::function<void()> free);

// Frees all retired objects that can be freed; returns how many remain. Any thread; takes
// O(threads + freed objects). The caller must not hold a lock that a `free` takes.
std::size_t collect_retired();

}  // namespace heatsink::cache
