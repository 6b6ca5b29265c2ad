// SPDX-License-Identifier: Apache-2.0
// Holds the requests of one connection until their replies have come, and the bytes to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/reply_timeouts.h"
#include "heatsink/command/ring.h"

namespace heatsink::proxy {

// One per connection; the worker's thread. Time is an argument. With Keeping::kUntilReply it keeps
// the bytes of each request until drop_front_bytes(), so that a request can be sent again
// elsewhere. All calls of a request are O(1), and copy its bytes once. Memory: grows with the
// requests in flight; shrink() gives it back.
class SentRequests {
 public:
  enum class Keeping : std::uint8_t { kUntilSent, kUntilReply };

  explicit SentRequests(Keeping keeping) : keeps_(keeping == Keeping::kUntilReply) {}
  SentRequests(const SentRequests&) = delete;

  // ---- requests

  void add(std::string_view request, Pending&& pending, TimePoint now) {
    ++commands_;
    if (keeps_) pending.bytes = static_cast<std::uint32_t>(request.size());
    owed_ += pending.expected;
    output_.append(request);
    expect(std::move(pending), now);
  }
  // A request that another process has sent.
  void expect(Pending&& pending, TimePoint now) {
    pending.sent_at = now;
    if (pending_.empty()) timeouts_.command_sent(now);
    pending_.push_back(std::move(pending));
  }
  // The rest of the last request.
  void add_more(std::string_view bytes) { output_.append(bytes); }
  // A request of the handshake. Its caller puts the bytes into output().
  void add_login();
  // The last request. The reply to it has no end. It is sent when all earlier ones are answered,
  // because servers refuse SYNC while earlier replies are on their way.
  void add_raw(std::string_view request);
  bool is_raw() const { return is_raw_; }
  // After take_front(): the raw request may be sent now. Puts it into the output.
  bool release_raw();
  // Commands since the last call, of clients and of the proxy's own.
  std::uint64_t take_commands() { return std::exchange(commands_, 0); }

  // ---- bytes

  ByteBuffer& output() { return output_; }
  std::string_view unsent_bytes() const { return output_.view().substr(sent_); }
  std::size_t unsent() const { return output_.size() - sent_; }
  void sent(std::size_t bytes) {
    if (keeps_) {
      sent_ += bytes;
    } else {
      output_.consume(bytes);
    }
  }
  void login_sent(std::size_t bytes) { output_.consume(bytes); }  // which is never sent again
  bool has_sent_all() const { return output_.empty() && raw_request_.empty(); }

  // ---- the oldest request. REQUIRES that there is one.

  Pending& front() { return pending_.front(); }
  bool is_front_sent() { return sent_ >= pending_.front().bytes; }
  // The bytes that are kept. Valid until the next call that is not const.
  std::string_view front_bytes() { return output_.view().substr(0, pending_.front().bytes); }
  // It will not be sent again. REQUIRES is_front_sent().
  void drop_front_bytes() {
    Pending& pending = pending_.front();
    output_.consume(pending.bytes);
    sent_ -= pending.bytes;
    pending.bytes = 0;
  }
  // Its reply has ended, or will never come.
  Pending take_front() {
    Pending front = pending_.pop_front();
    owed_ -= front.expected;
    return front;
  }
  // The same for one that owns nothing any more: it is not moved.
  void drop_front() {
    owed_ -= pending_.front().expected;
    pending_.drop_front();
  }
  // The same for one that was taken elsewhere. `expected`: its own, from before.
  void end_taken_front(std::uint32_t expected) {
    static_cast<void>(pending_.pop_front());
    owed_ -= expected;
  }

  // ---- all

  bool empty() const { return pending_.empty(); }
  std::size_t size() const { return pending_.size(); }
  std::uint64_t owed() const { return owed_; }  // expected bytes of replies to come
  // How long ago the oldest request was sent that has no whole reply; 0: none.
  Nanos owes_since(TimePoint now) {
    return pending_.empty() ? Nanos(0) : now - pending_.front().sent_at;
  }
  // The reply to the oldest one made progress: not only more bytes of one line.
  void progress(TimePoint now) { timeouts_.progress(now); }
  // Why the server counts as dead after this limit (reply_timeouts.h); "": it does not.
  std::string overdue(TimePoint now, Nanos limit);

  std::size_t memory_bytes() const {
    return output_.capacity() + pending_.capacity() * sizeof(Pending);
  }
  void shrink() {
    if (output_.empty()) output_.release();
    if (pending_.empty()) pending_ = {};
  }

 private:
  const bool keeps_;
  ByteBuffer output_;
  std::size_t sent_ = 0;  // bytes at the front of output_ that have been sent
  Ring<Pending> pending_;
  std::uint64_t commands_ = 0;
  std::uint64_t owed_ = 0;
  ReplyTimeouts timeouts_;
  bool is_raw_ = false;
  std::string raw_request_;  // waits
};

}  // namespace heatsink::proxy
