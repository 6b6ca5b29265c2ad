// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/memory_reserve.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <new>

namespace heatsink {
namespace {

// Several, because threads that fail at the same time take one each.
constexpr std::size_t kParts = 8;
constexpr std::size_t kPartBytes = kMemoryReserveBytes / kParts;

constinit std::array<std::atomic<void*>, kParts> parts{};
constinit thread_local bool is_denied = false;

// `new` calls it again and again until there is memory, or until it throws.
void give_part() {
  if (is_denied) throw std::bad_alloc();
  for (std::atomic<void*>& part : parts) {
    void* const taken = part.exchange(nullptr);
    if (taken == nullptr) continue;
    munmap(taken, kPartBytes);
    return;
  }
  throw std::bad_alloc();
}

}  // namespace

void keep_memory_reserve() {
  refill_memory_reserve();
  std::set_new_handler(give_part);
}

void refill_memory_reserve() noexcept {
  for (std::atomic<void*>& part : parts) {
    if (part.load(std::memory_order_relaxed) != nullptr) continue;
    void* const more =
        mmap(nullptr, kPartBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) return;
    void* missing = nullptr;
    if (!part.compare_exchange_strong(missing, more)) munmap(more, kPartBytes);
  }
}

std::size_t memory_reserve_bytes() noexcept {
  std::size_t left = 0;
  for (const std::atomic<void*>& part : parts)
    if (part.load(std::memory_order_relaxed) != nullptr) left += kPartBytes;
  return left;
}

NoMemoryReserve::NoMemoryReserve() noexcept : before_(is_denied) { is_denied = true; }
NoMemoryReserve::~NoMemoryReserve() { is_denied = before_; }

}  // namespace heatsink
