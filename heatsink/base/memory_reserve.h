// SPDX-License-Identifier: Apache-2.0
// Memory set aside for the small needs of a process whose large buffers have used up the rest.
#pragma once

#include <cstddef>

namespace heatsink {

inline constexpr std::size_t kMemoryReserveBytes = 16 << 20;  // of address space, never touched

// When the system has no more memory (`ulimit -v`, vm.overcommit_memory=2), `new` takes a part of
// the reserve, so that threads that only need a little go on: the admin API, detection, logs. Sets
// the new handler of the process ([new.handler]), and fills the reserve. Thread-safe.
void keep_memory_reserve();

// Fills up again what was taken, as far as the system has memory. To be called now and then.
// Thread-safe. Costs a few loads if nothing is missing.
void refill_memory_reserve() noexcept;

std::size_t memory_reserve_bytes() noexcept;  // what is left

// While it exists, `new` of this thread does not take from the reserve: it throws std::bad_alloc as
// soon as the system has no more memory. For work that may fail alone, such as a client's.
class NoMemoryReserve {
 public:
  NoMemoryReserve() noexcept;
  ~NoMemoryReserve();
  NoMemoryReserve(const NoMemoryReserve&) = delete;
  NoMemoryReserve& operator=(const NoMemoryReserve&) = delete;

 private:
  bool before_;
};

}  // namespace heatsink
