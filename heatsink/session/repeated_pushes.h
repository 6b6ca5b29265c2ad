// SPDX-License-Identifier: Apache-2.0
// Keeps the pushes that a client is sent a second time, until their time has come.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/command/reply_queue.h"

namespace heatsink::proxy {

// A client library may store a reply after it has handled what stands behind it. redis-rs does:
// its reader handles a push at once, and the task that waits for the reply stores the value when it
// runs. An invalidation right behind the reply then ends nothing. So it is sent once more, when the
// reply has been out for at least one tick, and for three at most.
//
// One per client that tracks; the worker's thread. While it is not empty, a tick comes an eighth of
// a second after the last one (Session::repeat_pushes_later()).
class RepeatedPushes {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{256} * 1024;

  // `push` stands behind the reply with this ticket. False: it would be too much to keep.
  bool add(std::string_view push, ReplyQueue::Ticket behind) {
    if (bytes_ + push.size() > kBytesMax) return false;
    if (!is_open_) batches_.emplace_back();
    is_open_ = true;
    batches_.back().wire += push;
    batches_.back().behind = behind;
    bytes_ += push.size();
    return true;
  }

  // Returns the pushes whose time has come. `owes(ticket)`: the client has not got that reply yet.
  template <class Owes>
  std::string tick(Owes owes) {
    std::string due;
    while (!batches_.empty() && batches_.front().is_out) {
      due += batches_.front().wire;
      batches_.pop_front();
    }
    for (Batch& batch : batches_) {
      if (owes(batch.behind)) break;
      batch.is_out = true;
    }
    is_open_ = false;
    bytes_ -= due.size();
    return due;
  }
  std::string take_all() {
    std::string all;
    for (const Batch& batch : batches_) all += batch.wire;
    clear();
    return all;
  }
  void clear() {
    batches_.clear();
    is_open_ = false;
    bytes_ = 0;
  }

  bool empty() const { return batches_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Batch {
    std::string wire;
    ReplyQueue::Ticket behind = ReplyQueue::kNone;
    bool is_out = false;  // its reply, at the last tick
  };
  std::deque<Batch> batches_;
  bool is_open_ = false;  // the last one gets what comes before the next tick
  std::size_t bytes_ = 0;
};

}  // namespace heatsink::proxy
