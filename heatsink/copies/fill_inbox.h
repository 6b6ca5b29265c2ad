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

// A worker that earns copies asks for tens of fills in a turn. It tells the keeper once, at the end
// of its turn: then they cost one wake-up, one command to the server and one answer together. A
// keeper that is told of the first one would be done with it before the second is there. take() is
// for the keeper's thread, the rest for any.
class FillInbox {
 public:
  static constexpr std::size_t kWaitingMax = 16'384;

  // The caller calls untold() at the end of its turn.
  void put(FillRequest request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
    count_.store(waiting_.size(), std::memory_order_relaxed);
  }

  // How many fills wait of which the keeper has not been told. If there are any, the caller sends
  // it a message to take so many.
  [[nodiscard]] std::size_t untold() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() - std::exchange(told_, waiting_.size());
  }

  // The next `count` in the order of the calls. No more than the message names: what was put later
  // must not pass messages that the keeper got in between (that its server may be another one now).
  // `into` lends its memory for the next ones.
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

  // Fills can do without it for now. Threads that ask at the same moment may go beyond it.
  bool is_full() const { return count_.load(std::memory_order_relaxed) >= kWaitingMax; }

 private:
  std::mutex mutex_;  // guards waiting_ and told_
  std::vector<FillRequest> waiting_;
  std::size_t told_ = 0;  // of these, the first so many
  std::atomic<std::size_t> count_{0};
};

}  // namespace heatsink::copies
