// SPDX-License-Identifier: Apache-2.0
// Lets any thread look at shared objects without a lock, and frees them when nobody can any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace heatsink::cache {

// Epoch-based reclamation (K. Fraser, "Practical lock-freedom", 2004) for threads that come and go
// and have no event loop; those that have one use Epochs, which costs their look-ups nothing. One
// domain for the whole process: so what a Pin protects outlives whatever made it.
//
// Pinning is two plain stores. The fence that its reader would need is made by whoever frees, for
// all threads, by membarrier(2); where the kernel has none, a pin is a store with a fence.
class Pin {
 public:
  // What this thread finds by seq_cst loads of shared pointers from now on stays until the pin has
  // gone. Pins nest. The first one of a thread allocates; no other call does.
  Pin() noexcept;
  // Ends a pin that this thread has already.
  struct Adopted {};
  explicit Pin(Adopted /*pin*/) noexcept {}
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
};

// Any thread: `free` runs in a later collect(), when no pin is left that is older than this call.
// REQUIRES that new pins can no longer find what it frees (a seq_cst store has unlinked it).
void retire(std::function<void()> free);

// Frees what can be freed; any thread, O(threads + what is freed). Not called with locks held that
// a `free` takes. Returns how many wait still.
std::size_t collect_retired();

}  // namespace heatsink::cache
