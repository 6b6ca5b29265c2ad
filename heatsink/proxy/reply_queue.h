// SPDX-License-Identifier: Apache-2.0
// The replies that one client is owed: they leave in the order of its requests, wherever and
// whenever each of them comes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

  bool empty() const { return slots_.empty(); }
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t capacity_bytes() const { return slots_.capacity() * sizeof(Slot); }

  Ticket expect() {
    slots_.push_back({});
    return first_ + slots_.size() - 1;
  }
  // What expect() will return.
  Ticket next() const { return first_ + slots_.size(); }

  // The reply, or a part of it. REQUIRES that it has not ended.
  void put(Ticket ticket, std::string_view bytes, ByteBuffer& out) {
    if (ticket == first_) return out.append(bytes);
    slot(ticket).kept.append(bytes);
    kept_bytes_ += bytes.size();
  }

  // Nothing more comes of it.
  void end(Ticket ticket, ByteBuffer& out) {
    slot(ticket).ended = true;
    while (!slots_.empty() && slots_.front().ended) {
      drop_first();
      if (!slots_.empty()) hand_on(slots_.front(), out);
    }
    if (slots_.empty() && slots_.capacity() > kIdleSlots) slots_ = {};
  }

  // A whole reply, to a request that needs no ticket: it stands behind all others.
  void add(std::string_view reply, ByteBuffer& out) {
    if (slots_.empty()) return out.append(reply);
    Slot& last = slots_[slots_.size() - 1];
    Slot& own = last.ended ? last : slots_.push_back({.kept = {}, .ended = true});
    own.kept.append(reply);
    kept_bytes_ += reply.size();
  }

  void clear() {
    first_ += slots_.size();
    slots_ = {};
    kept_bytes_ = 0;
  }

 private:
  struct Slot {
    std::string kept;
    bool ended = false;
  };
  static constexpr std::size_t kIdleSlots = 64;  // more are given back when nothing is owed

  Slot& slot(Ticket ticket) {
    assert(ticket >= first_ && ticket - first_ < slots_.size());
    return slots_[ticket - first_];
  }
  void hand_on(Slot& slot, ByteBuffer& out) {
    if (slot.kept.empty()) return;
    out.append(slot.kept);
    kept_bytes_ -= slot.kept.size();
    slot.kept = {};
  }
  void drop_first() {
    slots_.pop_front();
    ++first_;
  }

  Ring<Slot> slots_;
  Ticket first_ = 1;  // of slots_.front()
  std::size_t kept_bytes_ = 0;
};

}  // namespace heatsink::proxy
