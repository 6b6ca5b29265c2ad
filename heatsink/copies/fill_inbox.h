// SPDX-License-Identifier: Apache-2.0
// Holds the fills that workers have asked the keeper for, until it takes all of them at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/copies/fill_request.h"

namespace heatsink::copies {

// A worker that earns copies asks for tens of fills in a turn. One message for all of them costs
// the keeper one wake-up, and none of them a closure. put() and is_full() are for any thread,
// take() for the keeper's.
class FillInbox {
 public:
  static constexpr std::size_t kWaitingMax = 16'384;

  // True: the keeper does not know yet that there is something to take, and must be told.
  [[nodiscard]] bool put(FillRequest request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
    count_.store(waiting_.size(), std::memory_order_relaxed);
    return waiting_.size() == 1;
  }

  // In the order of the calls; empties it. `into` lends its memory for the next ones.
  void take(std::vector<FillRequest>& into) {
    into.clear();
    const std::lock_guard lock(mutex_);
    into.swap(waiting_);
    count_.store(0, std::memory_order_relaxed);
  }

  // Fills can do without it for now. Threads that ask at the same moment may go beyond it.
  bool is_full() const { return count_.load(std::memory_order_relaxed) >= kWaitingMax; }

 private:
  std::mutex mutex_;  // guards waiting_
  std::vector<FillRequest> waiting_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace heatsink::copies
