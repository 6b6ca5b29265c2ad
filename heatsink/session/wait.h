// SPDX-License-Identifier: Apache-2.0
// Tracks one command that may wait on the server (BLPOP, XREAD BLOCK, WAIT), and ends its wait when
// its client leaves.
//
// Without a proxy the server notices that the client has left and ends the wait. If the proxy just
// closed the waiting connection, the server could pop an element for it shortly before, and the
// element would be lost. So the proxy unblocks the command by its connection's id over another
// connection (CLIENT UNBLOCK), and puts back an element that arrives all the same (command_undo.h).
//
// A client that has only ended its output looks like one that has left, but it must get a reply
// that needed no wait, as from a server. So the proxy sends a HELLO right before the command, in
// one write: the server answers it before the command waits. A reply in a later read has waited. A
// reply in the same read most likely has not, if it came at once or the client had ended its output
// before: the proxy then offers it to the client by its first byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/command/command_undo.h"

namespace heatsink::proxy {

// A state machine; belongs to its session.
//
// Calls: mark_answered() client_left()* unblock_answered()*, in any order, until the reply begins.
class Wait {
 public:
  enum class Next : std::uint8_t {
    kNothing,  // a request is in flight, or all is done
    kUnblock,  // send CLIENT UNBLOCK connection() ERROR
    kRetry,    // client_left() again after pause()
    kClose,    // the connection cannot be unblocked: close it
  };

  // `ended`: the client had ended its output before this command was sent.
  Wait(CommandUndo undo, bool ended, TimePoint sent_at)
      : undo_(std::move(undo)), ended_(ended), sent_at_(sent_at) {}

  const CommandUndo& undo() const { return undo_; }

  // For another process that takes over the client and its waiting connection. Without a kept
  // request the client cannot be handed over.
  void keep_request(std::string_view wire) { request_ = wire; }
  const std::string& request() const { return request_; }
  bool may_be_carried() const { return marked_ && !asked_ && !keeps_reply_ && !request_.empty(); }
  // Instead of mark_answered(): the command has waited since before `now`.
  void carry_on(std::uint64_t connection, TimePoint now) {
    connection_ = connection;
    marked_ = true;
    marked_at_ = now;
  }

  std::uint64_t connection() const { return connection_; }
  TimePoint sent_at() const { return sent_at_; }

  // The reply to HELLO, and when it was read. After an error the server does not report connection
  // ids.
  void mark_answered(std::string_view hello, TimePoint read_at);
  // Whether the command has waited, given that its reply begins in bytes read at `read_at`.
  bool has_waited(TimePoint read_at) const {
    return marked_ && (read_at != marked_at_ || (!ended_ && read_at - sent_at_ > kAtOnce));
  }

  // The client has left. Before mark_answered() it is unknown whether the command waits: the caller
  // calls again after it.
  Next client_left();
  Next unblock_answered(std::string_view reply);
  // kUnblock could not be sent: another connection is being opened, or cannot be.
  Next not_sent(TimePoint now);
  // After kRetry: how long to wait until pause_is_over(), and then client_left().
  Nanos pause() {
    rests_ = true;
    return std::exchange(pause_, std::min(pause_ * 2, kPauseMax));
  }
  void pause_is_over() { rests_ = false; }

  // The client has left or ended its output: the reply that begins is kept. A reply that has waited
  // is not for the client; any other reply is, if the client is still there.
  void keep_reply(bool waited) {
    keeps_reply_ = true;
    reply_waited_ = waited;
  }
  bool keeps_reply() const { return keeps_reply_; }
  bool reply_waited() const { return reply_waited_; }

 private:
  static constexpr Nanos kPauseMax = Millis(100);
  static constexpr Nanos kPatience = std::chrono::seconds(2);       // with another connection
  static constexpr Nanos kAtOnce = std::chrono::microseconds(200);  // a fast round trip

  CommandUndo undo_;
  std::string request_;
  bool ended_;
  TimePoint sent_at_;
  std::uint64_t connection_ = 0;  // its id on the server; 0: unknown
  TimePoint marked_at_{};
  TimePoint unsent_since_{};
  Nanos pause_ = Millis(1);
  bool marked_ = false;
  bool rests_ = false;  // a pause goes on
  bool asked_ = false;  // CLIENT UNBLOCK is in flight, or has succeeded
  bool keeps_reply_ = false;
  bool reply_waited_ = false;
};

}  // namespace heatsink::proxy
