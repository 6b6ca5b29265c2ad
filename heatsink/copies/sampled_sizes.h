// SPDX-License-Identifier: Apache-2.0
// Remembers how large the servers' replies to reads of a key are, from a few of the replies.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/hash.h"

namespace heatsink::copies {

// A worker's thread adds, any thread reads. One reply in kSampled is looked at, at random, so that
// the others cost a decrement. 32 KiB; of two keys with the same entry the latest one stays, and
// two keys with the same entry and the same 32 bits of their hash are taken for one.
class SampledSizes {
 public:
  static constexpr std::uint32_t kSampled = 16;
  static constexpr std::size_t kEntries = 4096;

  explicit SampledSizes(std::uint64_t seed) : state_(seed | 1) {}

  // The worker. True: call add() for this reply.
  bool looks_at_next() {
    if (--left_ > 0) return false;
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
    left_ = 1 + static_cast<std::uint32_t>((state_ >> 33) % (2 * kSampled - 1));
    return true;
  }
  void add(KeyHash key, std::uint64_t bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(bytes, UINT32_MAX);
    entry(key).store((key.value & kTag) | size, std::memory_order_relaxed);
    replies_.store(replies_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  // Any thread. 0: not known.
  std::uint32_t last(KeyHash key) const {
    const std::uint64_t found = entry(key).load(std::memory_order_relaxed);
    return (found & kTag) == (key.value & kTag) ? static_cast<std::uint32_t>(found) : 0;
  }
  struct Sum {
    std::uint64_t replies = 0, bytes = 0;
  };
  // Of all that were looked at; only grows.
  Sum sum() const {
    return {replies_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr std::uint64_t kTag = ~std::uint64_t{UINT32_MAX};

  std::atomic<std::uint64_t>& entry(KeyHash key) { return entries_[key.value % kEntries]; }
  const std::atomic<std::uint64_t>& entry(KeyHash key) const {
    return entries_[key.value % kEntries];
  }

  std::uint64_t state_;
  std::uint32_t left_ = 1;
  std::atomic<std::uint64_t> replies_{0}, bytes_{0};
  // The upper half of a key's hash, and the size of the last reply.
  std::array<std::atomic<std::uint64_t>, kEntries> entries_{};
};

}  // namespace heatsink::copies
