// SPDX-License-Identifier: Apache-2.0
// Hands the bytes of the reply that is being read to its receiver, keeps a copy, or holds them
// back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/upstream/connection_owner.h"

namespace heatsink::proxy {

// One per connection; the worker's thread. It does not parse bytes, and knows no request: its
// caller says what happens to each reply or message. The bytes of one element are handed on in
// their order. Memory: the copy, up to a limit of the caller, and what is held back. No allocation
// for a reply that is only handed on.
class ReplyDelivery {
 public:
  // `owner`: gets all bytes of a private connection. Null: the connection is shared, and stays it.
  explicit ReplyDelivery(ConnectionOwner* owner) : owner_(owner), is_private_(owner != nullptr) {}
  ReplyDelivery(const ReplyDelivery&) = delete;

  // ---- the holder of the connection

  ConnectionOwner* owner() const { return owner_; }
  void set_owner(ConnectionOwner* owner) { owner_ = owner; }
  bool is_private() const { return is_private_; }  // it had an owner when it was made

  // ---- one element

  // Its bytes are dropped until a receiver is set.
  void begin() {
    bytes_ = 0;
    captures_ = false;
    receiver_ = nullptr;
    ticket_ = ReplyQueue::kNone;
  }
  void end() { receiver_ = nullptr; }  // of the element, or of what is handed on of it

  void send_to(Requester& receiver, ReplyQueue::Ticket ticket) {
    receiver_ = &receiver;
    ticket_ = ticket;
  }
  void send_to_owner() { receiver_ = owner_; }       // as a message
  Requester* receiver() const { return receiver_; }  // null: the bytes are dropped
  // REQUIRES a receiver. A private connection has an owner then.
  void hand_on(std::string_view bytes) {
    if (is_private_) {
      owner_->take_private(ticket_, bytes);
    } else {
      receiver_->take_reply(ticket_, bytes);
    }
  }

  // The bytes of the element that came so far.
  std::uint64_t bytes() const { return bytes_; }
  void count(std::size_t bytes) { bytes_ += bytes; }

  // ---- a copy

  // Once it is wanted, the copy has the bytes from the beginning of the element.
  void capture(bool wanted) {
    if (wanted && !captures_) captured_.clear();
    captures_ = wanted;
  }
  bool captures() const { return captures_; }
  // What is longer than `most` is too big to parse: the copy ends about there.
  void add_to_copy(std::string_view bytes, std::size_t most) {
    if (captured_.size() <= most) captured_.append(bytes);
  }
  std::string_view captured() const { return captures_ ? captured_ : std::string_view(); }

  // ---- bytes that are held back

  // Until hand_on_held() or drop_held(): the receiver gets nothing.
  void hold() { holds_ = true; }
  bool holds() const { return holds_; }
  void add_to_held(std::string_view bytes) { held_.append(bytes); }
  void hand_on_held() {
    holds_ = false;
    if (!held_.empty()) hand_on(held_.view());
    held_.release();
  }
  // The receiver never gets them.
  void drop_held() {
    holds_ = false;
    held_.release();
  }

  std::size_t memory_bytes() const { return captured_.capacity() + held_.capacity(); }
  void shrink() {
    if (captured_.empty()) std::string().swap(captured_);
    if (held_.empty()) held_.release();
  }

 private:
  ConnectionOwner* owner_;
  const bool is_private_;
  bool captures_ = false;
  bool holds_ = false;
  Requester* receiver_ = nullptr;
  ReplyQueue::Ticket ticket_ = ReplyQueue::kNone;  // of the receiver; kNone: a message
  std::uint64_t bytes_ = 0;
  std::string captured_;
  ByteBuffer held_;
};

}  // namespace heatsink::proxy
