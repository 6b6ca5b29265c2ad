// SPDX-License-Identifier: Apache-2.0
// Puts one client's replies into the order of its requests, wherever and whenever they arrive.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/proxy/ring.h"

namespace heatsink::proxy {

// Not thread-safe. Each request with a reply has a ticket, from expect() to end(). Bytes of the
// first open reply go to the client's output at once; bytes of later replies are kept until all
// replies before them have ended. Cost: no allocation while replies arrive in order.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;
  static constexpr Ticket kNone = 0;  // a request whose reply does not go to the client

  bool empty() const { return states_.empty(); }
  // A part of a reply is in the output, and its rest is missing.
  bool is_begun() const { return begun_; }
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t capacity_bytes() const {
    // An empty map has one bucket, which is a part of itself.
    return states_.capacity() * sizeof(State) + (kept_.bucket_count() - 1) * sizeof(void*);
  }

  Ticket expect() {
    states_.push_back(State::kOpen);
    return next() - 1;
  }
  // Its reply, or one before it, has not ended.
  bool owes(Ticket ticket) const { return ticket >= first_; }
  // The request of the last ticket will be sent again, and gets a new one. REQUIRES that no byte of
  // its reply has arrived.
  void take_back(Ticket ticket) {
    assert(ticket + 1 == next() && state_of(ticket) == State::kOpen);
    if (ticket + 1 == next() && !states_.empty()) states_.pop_back();
  }
  // The next return value of expect().
  Ticket next() const { return first_ + states_.size(); }

  // Adds the reply, or a part of it. REQUIRES an open ticket.
  void put(Ticket ticket, std::string_view bytes, ByteBuffer& out) {
    if (ticket == first_) {
      begun_ = true;
      return out.append(bytes);
    }
    keep(ticket, bytes);
  }

  // The reply is complete.
  void end(Ticket ticket, ByteBuffer& out) {
    state_of(ticket) = State::kEnded;
    while (!states_.empty() && states_.front() == State::kEnded) {
      states_.pop_front();
      ++first_;
      begun_ = false;
      if (!kept_.empty()) hand_on_first(out);
    }
    if (states_.empty() && states_.capacity() > kIdleReplies) states_ = {};
  }

  // Adds a whole reply to a request without a ticket, after all other replies.
  void add(std::string_view reply, ByteBuffer& out) {
    if (states_.empty()) return out.append(reply);
    if (state_of(next() - 1) == State::kOpen) states_.push_back(State::kEnded);
    keep(next() - 1, reply);
  }

  // Frees the memory of earlier replies, unless one is owed.
  void shrink() {
    if (!states_.empty()) return;
    states_ = {};
    decltype(kept_)().swap(kept_);
  }

  void clear() {
    first_ = next();
    begun_ = false;
    states_ = {};
    decltype(kept_)().swap(kept_);  // clear() would keep the buckets
    kept_bytes_ = 0;
  }

 private:
  enum class State : std::uint8_t { kOpen, kEnded };
  // Larger capacity is released when nothing is owed.
  static constexpr std::size_t kIdleReplies = 64;

  State& state_of(Ticket ticket) {
    assert(ticket >= first_ && ticket < next());
    return states_[ticket - first_];
  }
  void keep(Ticket ticket, std::string_view bytes) {
    kept_[ticket].append(bytes);
    kept_bytes_ += bytes.size();
  }
  void hand_on_first(ByteBuffer& out) {
    const auto found = kept_.find(first_);
    if (found == kept_.end()) return;
    begun_ = true;
    out.append(found->second);
    kept_bytes_ -= found->second.size();
    kept_.erase(found);
  }

  Ring<State> states_;
  Ticket first_ = 1;  // of states_.front()
  // Kept apart from states_, so that replies in order, by far the most, cost one byte each.
  std::unordered_map<Ticket, std::string> kept_;
  std::size_t kept_bytes_ = 0;
  bool begun_ = false;  // the first reply
};

}  // namespace heatsink::proxy
