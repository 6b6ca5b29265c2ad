// SPDX-License-Identifier: Apache-2.0
// The replies that one client is owed: they leave in the order of its requests, wherever and
// whenever each of them comes.
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

// Not thread-safe. Each request that the client gets a reply to has a ticket, from expect() to
// end(). Bytes of the first reply go to the client's output at once; those of later ones are kept
// until all before them have ended. Cost: no allocation while replies come in order.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;
  static constexpr Ticket kNone = 0;  // a request whose reply is not the client's

  bool empty() const { return states_.empty(); }
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t capacity_bytes() const { return states_.capacity() * sizeof(State); }

  Ticket expect() {
    states_.push_back(State::kOpen);
    return next() - 1;
  }
  // What expect() will return.
  Ticket next() const { return first_ + states_.size(); }

  // The reply, or a part of it. REQUIRES that it has not ended.
  void put(Ticket ticket, std::string_view bytes, ByteBuffer& out) {
    if (ticket == first_) return out.append(bytes);
    keep(ticket, bytes);
  }

  // Nothing more comes of it.
  void end(Ticket ticket, ByteBuffer& out) {
    state_of(ticket) = State::kEnded;
    while (!states_.empty() && states_.front() == State::kEnded) {
      states_.pop_front();
      ++first_;
      if (!kept_.empty()) hand_on_first(out);
    }
    if (states_.empty() && states_.capacity() > kIdleReplies) states_ = {};
  }

  // A whole reply, to a request that needs no ticket: it stands behind all others.
  void add(std::string_view reply, ByteBuffer& out) {
    if (states_.empty()) return out.append(reply);
    if (state_of(next() - 1) == State::kOpen) states_.push_back(State::kEnded);
    keep(next() - 1, reply);
  }

  void clear() {
    first_ = next();
    states_ = {};
    kept_.clear();
    kept_bytes_ = 0;
  }

 private:
  enum class State : std::uint8_t { kOpen, kEnded };
  static constexpr std::size_t kIdleReplies = 64;  // more are given back when nothing is owed

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
    out.append(found->second);
    kept_bytes_ -= found->second.size();
    kept_.erase(found);
  }

  Ring<State> states_;
  Ticket first_ = 1;  // of states_.front()
  // Beside the places, so that replies in order, which are nearly all, cost a byte each.
  std::unordered_map<Ticket, std::string> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace heatsink::proxy
