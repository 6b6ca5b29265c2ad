// SPDX-License-Identifier: Apache-2.0
// One command that may wait on the server (BLPOP, XREAD BLOCK, WAIT), and how its wait is ended
// when its client leaves.
//
// A server sees that a client has left and ends its wait. Behind a proxy that closes the waiting
// connection, an element may be popped for it just before: it would be lost. So another connection
// unblocks this one by its id, and what comes all the same is put back (command_undo.h).
//
// A client that has only ended its output looks like one that has left; but what it need not wait
// for is its own, as on the server. A HELLO goes out right before the command, in one write: the
// server answers it before it waits. So a reply that comes in a later read has waited. One that
// comes in the same read most likely has not, if that is at once or the client had ended its output
// before: it is offered to the client by its first byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/proxy/command_undo.h"

namespace heatsink::proxy {

// A state machine; belongs to its session.
//
// Calls: marked() leave()* unblock_answered()*, in any order, until the reply begins.
class Wait {
 public:
  enum class Next : std::uint8_t {
    kNothing,  // something is under way, or all is done
    kUnblock,  // send CLIENT UNBLOCK connection() ERROR
    kRetry,    // leave() again after pause()
    kClose,    // the connection cannot be unblocked: close it
  };

  // `ended`: the client's output, before this command was sent.
  Wait(CommandUndo undo, bool ended, TimePoint sent_at)
      : undo_(std::move(undo)), ended_(ended), sent_at_(sent_at) {}

  const CommandUndo& undo() const { return undo_; }
  std::uint64_t connection() const { return connection_; }

  // The reply to HELLO, and when it was read. An error: this server does not tell its ids.
  void marked(std::string_view hello, TimePoint read_at);
  // Of a reply that begins in what was read then.
  bool has_waited(TimePoint read_at) const {
    return marked_ && (read_at != marked_at_ || (!ended_ && read_at - sent_at_ > kAtOnce));
  }

  // The client has left. Before marked() it is not known whether it waits: then call it once more.
  Next leave();
  Next unblock_answered(std::string_view reply);
  Nanos pause() { return std::exchange(pause_, std::min(pause_ * 2, kPauseMax)); }

  // The client has left, or ended its output: the reply that now begins is kept. One that has
  // waited is not for it; one that has not is, if it is still there.
  void keep_reply(bool waited) {
    keeps_reply_ = true;
    reply_waited_ = waited;
  }
  bool keeps_reply() const { return keeps_reply_; }
  bool reply_waited() const { return reply_waited_; }

 private:
  static constexpr Nanos kPauseMax = Millis(100);
  static constexpr Nanos kAtOnce = std::chrono::microseconds(200);  // there and back, at its best

  CommandUndo undo_;
  bool ended_;
  TimePoint sent_at_;
  std::uint64_t connection_ = 0;  // its id on the server; 0: not known
  TimePoint marked_at_{};
  Nanos pause_ = Millis(1);
  bool marked_ = false;
  bool asked_ = false;  // CLIENT UNBLOCK is under way, or was successful
  bool keeps_reply_ = false;
  bool reply_waited_ = false;
};

}  // namespace heatsink::proxy
