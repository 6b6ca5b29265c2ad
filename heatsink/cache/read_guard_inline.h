// SPDX-License-Identifier: Apache-2.0
// Reads without a ReadGuard, for code that reads at every request: a call of its constructor costs
// more than the read's begin.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/cache/read_guard.h"

namespace heatsink::cache {

// The state of one thread that the freeing thread reads. Never freed; a later thread reuses it.
struct alignas(64) ReaderSlot {
  std::atomic<std::uint64_t> reading_since{0};  // an epoch; 0: the thread does not read
  std::atomic<bool> is_taken{true};
  ReaderSlot* next = nullptr;
};

struct ThreadReads {
  ReaderSlot* slot = nullptr;
  std::uint32_t depth = 0;
};
extern thread_local constinit ThreadReads this_threads_reads;

struct ReadEpoch {
  std::atomic<std::uint64_t> now{1};
  // True: the freeing thread issues the fence for all threads (membarrier).
  std::atomic<bool> is_fenced_by_others{false};
};
extern constinit ReadEpoch read_epoch;

void take_reader_slot() noexcept;

// Begins a read without a ReadGuard: end_read() ends it, or a ReadGuard that adopts it.
inline void begin_read() noexcept {
  ThreadReads& self = this_threads_reads;
  if (self.depth++ != 0) return;
  if (self.slot == nullptr) [[unlikely]]
    take_reader_slot();
  // Either the freeing thread sees "reading since n" after it unlinks an object, or this thread
  // sees the unlinking when it loads its pointers. One of the two is enough.
  const std::uint64_t epoch = read_epoch.now.load(std::memory_order_acquire);
  if (read_epoch.is_fenced_by_others.load(std::memory_order_relaxed)) [[likely]] {
    self.slot->reading_since.store(epoch, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    self.slot->reading_since.store(epoch, std::memory_order_seq_cst);
  }
}

inline void end_read() noexcept {
  ThreadReads& self = this_threads_reads;
  if (--self.depth == 0) self.slot->reading_since.store(0, std::memory_order_release);
}

}  // namespace heatsink::cache
