// SPDX-License-Identifier: Apache-2.0
// Holds the fills that workers have asked the keeper for, until it takes all of them at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/copies/fill_request.h"

namespace heatsink::copies {

// A worker asks for tens of fills in a turn. It sends the keeper one message, at the end of its
// turn: then the fills cost one wake-up, one command to the server and one answer together. With a
// message for each fill, the keeper would be done with the first one before the worker puts the
// second. Only the keeper's thread calls take(); any thread may call the rest.
class FillInbox {
 public:
  static constexpr std::size_t kWaitingMax = 16'384;

  // The caller calls untold() at the end of its turn.
  void put(FillRequest request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
    count_.store(waiting_.size(), std::memory_order_relaxed);
  }

  // How many of the waiting fills no message to the keeper has counted yet. If there are any, the
  // caller sends the keeper a message to take so many.
  [[nodiscard]] std::size_t untold() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() - std::exchange(told_, waiting_.size());
  }

  // The next `count` fills in the order of the put() calls. The keeper takes as many as its message
  // says, and no more: a fill that a worker put later must not overtake a message that came in
  // between (which may say that the keeper's server has changed). The inbox keeps the memory of
  // `into` for later fills.
  void take(std::size_t count, std::vector<FillRequest>& into) {
    into.clear();
    const std::lock_guard lock(mutex_);
    if (count == waiting_.size()) {
      into.swap(waiting_);
    } else {
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
      into.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
      waiting_.erase(waiting_.begin(), end);
    }
    told_ -= count;
    count_.store(waiting_.size(), std::memory_order_relaxed);
  }

  // The caller then drops its fill: it is an optimization. Workers that ask at the same moment may
  // exceed kWaitingMax by one fill each.
  bool is_full() const { return count_.load(std::memory_order_relaxed) >= kWaitingMax; }

 private:
  std::mutex mutex_;  // guards waiting_ and told_
  std::vector<FillRequest> waiting_;
  std::size_t told_ = 0;  // the first so many fills are counted by messages to the keeper
  std::atomic<std::size_t> count_{0};
};

}  // namespace heatsink::copies
