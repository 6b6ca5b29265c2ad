// SPDX-License-Identifier: Apache-2.0
// Counts the hits in local copies, by command.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// One object per worker: only its owner adds, any thread may read.
class ReadHits {
 public:
  void add(const LocalRead& read, std::uint64_t n = 1) noexcept {
    std::atomic<std::uint64_t>& cell = cells_[read.number];
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t of(const LocalRead& read) const noexcept {
    return cells_[read.number].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kLocalReadsMax> cells_{};
};

}  // namespace heatsink::copies
