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
#include "heatsink/command/ring.h"

namespace heatsink::proxy {

// Not thread-safe. Each request with a reply has a ticket, from expect() to end(). Bytes of the
// first open reply go to the client's output at once; bytes of later replies are kept until all
// replies before them have ended. Cost: no allocation while replies arrive in order, wherever the
// proxy's own replies stand between them.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;
  static constexpr Ticket kNone = 0;  // a request whose reply does not go to the client

  bool empty() const { return places_.empty(); }
  // A part of a reply is in the output, and its rest is missing.
  bool is_begun() const { return begun_; }
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t capacity_bytes() const {
    // An empty map has one bucket, which is a part of itself.
    return places_.capacity() * sizeof(Place) + (kept_.bucket_count() - 1) * sizeof(void*) +
           own_.capacity() - own_.size();
  }

  Ticket expect() {
    places_.push_back({});
    return next() - 1;
  }
  // Its reply, or one before it, has not ended.
  bool owes(Ticket ticket) const { return ticket >= first_; }
  // The request of the last ticket will be sent again, and gets a new one. What was added behind it
  // goes, too. REQUIRES that no byte of its reply has arrived.
  void take_back(Ticket ticket) {
    assert(ticket + 1 == next() && !place_of(ticket).has_ended);
    if (ticket + 1 != next() || places_.empty()) return;
    const std::size_t own = place_of(ticket).own;
    if (own > 0) replace_own(own_.size() - own, own, {});
    places_.pop_back();
  }
  // The next return value of expect().
  Ticket next() const { return first_ + places_.size(); }

  // Adds the reply, or a part of it. REQUIRES an open ticket.
  void put(Ticket ticket, std::string_view bytes, ByteBuffer& out) {
    if (ticket == first_) {
      begun_ = true;
      return out.append(bytes);
    }
    keep(ticket, bytes);
  }

  // put() and end() of a whole reply.
  void put_whole(Ticket ticket, std::string_view reply, ByteBuffer& out) {
    put(ticket, reply, out);
    end(ticket, out);
  }

  // The reply is complete.
  void end(Ticket ticket, ByteBuffer& out) {
    place_of(ticket).has_ended = true;
    while (!places_.empty() && places_.front().has_ended) {
      const std::size_t own = places_.pop_front().own;
      ++first_;
      begun_ = false;
      if (own > 0) hand_on_own(own, out);
      if (!kept_.empty()) hand_on_first(out);
    }
    if (places_.empty() && places_.capacity() > kIdleReplies) places_ = {};
    if (own_.empty() && own_.capacity() > kIdleOwnBytes) own_.release();
  }

  // Adds a whole reply to a request without a ticket, after all other replies.
  void add(std::string_view reply, ByteBuffer& out) {
    add_all(out, [reply](ByteBuffer& to) { to.append(reply); });
  }
  // Writes several replies, which write(ByteBuffer&) appends.
  template <class Write>
  void add_all(ByteBuffer& out, Write write) {
    if (places_.empty()) return write(out);
    const std::size_t before = own_.size();
    write(own_);
    const std::size_t added = own_.size() - before;
    place_of(next() - 1).own += added;
    kept_bytes_ += added;
  }

  // Adds bytes behind the reply with this ticket, and behind what follows it already, but in front
  // of the next reply. REQUIRES owes(ticket). Moves what is kept behind it.
  void put_behind(Ticket ticket, std::string_view bytes) {
    std::size_t before = 0;
    for (Ticket each = first_; each <= ticket; ++each) before += place_of(each).own;
    place_of(ticket).own += bytes.size();
    replace_own(before, 0, bytes);
  }
  Ticket first() const { return first_; }  // the one that the client gets next, if any is owed

  // Frees the memory of earlier replies, unless one is owed.
  void shrink() {
    if (!places_.empty()) return;
    places_ = {};
    decltype(kept_)().swap(kept_);
    own_.release();
  }

  void clear() {
    first_ = next();
    begun_ = false;
    places_ = {};
    decltype(kept_)().swap(kept_);  // clear() would keep the buckets
    own_.release();
    kept_bytes_ = 0;
  }

 private:
  struct Place {
    std::size_t own = 0;  // the bytes of own_ that stand behind this reply
    bool has_ended = false;
  };
  // Larger capacity is released when nothing is owed.
  static constexpr std::size_t kIdleReplies = 64, kIdleOwnBytes = 16 * 1024;

  Place& place_of(Ticket ticket) {
    assert(ticket >= first_ && ticket < next());
    return places_[ticket - first_];
  }
  void replace_own(std::size_t at, std::size_t count, std::string_view by) {
    ByteBuffer next;
    next.append(own_.view().substr(0, at));
    next.append(by);
    next.append(own_.view().substr(at + count));
    own_.swap(next);
    kept_bytes_ = kept_bytes_ + by.size() - count;
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

  void hand_on_own(std::size_t bytes, ByteBuffer& out) {
    out.append(own_.view().substr(0, bytes));
    own_.consume(bytes);
    kept_bytes_ -= bytes;
  }

  Ring<Place> places_;
  Ticket first_ = 1;  // of places_.front()
  ByteBuffer own_;    // the proxy's own replies, in order
  // Kept apart from places_, so that replies in order, by far the most, cost 16 bytes each.
  std::unordered_map<Ticket, std::string> kept_;
  std::size_t kept_bytes_ = 0;
  bool begun_ = false;  // the first reply
};

}  // namespace heatsink::proxy
