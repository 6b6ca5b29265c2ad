// SPDX-License-Identifier: Apache-2.0
// Pins for code that pins at every request: a call of Pin's constructor costs more than pinning.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/cache/pins.h"

namespace heatsink::cache {

// The state of one thread that the freeing thread reads. Never freed; a later thread reuses it.
struct alignas(64) PinSlot {
  std::atomic<std::uint64_t> pinned_since{0};  // an epoch; 0: the thread has no pin
  std::atomic<bool> is_taken{true};
  PinSlot* next = nullptr;
};

struct ThreadPins {
  PinSlot* slot = nullptr;
  std::uint32_t depth = 0;
};
extern thread_local constinit ThreadPins this_threads_pins;

struct PinEpoch {
  std::atomic<std::uint64_t> now{1};
  // True: the freeing thread issues the fence for all threads (membarrier).
  std::atomic<bool> is_fenced_by_others{false};
};
extern constinit PinEpoch pin_epoch;

void take_pin_slot() noexcept;

// Pins without a Pin object: unpin() ends it, or a Pin that adopts it.
inline void pin() noexcept {
  ThreadPins& self = this_threads_pins;
  if (self.depth++ != 0) return;
  if (self.slot == nullptr) [[unlikely]]
    take_pin_slot();
  // Either the freeing thread sees "pinned since n" after it unlinks an object, or this thread sees
  // the unlinking when it loads its pointers. One of the two is enough.
  const std::uint64_t epoch = pin_epoch.now.load(std::memory_order_acquire);
  if (pin_epoch.is_fenced_by_others.load(std::memory_order_relaxed)) [[likely]] {
    self.slot->pinned_since.store(epoch, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    self.slot->pinned_since.store(epoch, std::memory_order_seq_cst);
  }
}

inline void unpin() noexcept {
  ThreadPins& self = this_threads_pins;
  if (--self.depth == 0) self.slot->pinned_since.store(0, std::memory_order_release);
}

}  // namespace heatsink::cache
