// SPDX-License-Identifier: Apache-2.0
// A request too big to be buffered: its bytes are passed on, or dropped, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heatsink/proxy/route.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// Of one client, from the moment when its parser says kOversized until the request ends: `judge()
// (begin() take()*)*`. Keeps none of its bytes. Not thread-safe.
class OversizedRequest {
 public:
  // What is known of it by the arguments that have come.
  struct Beginning {
    // The proxy need not see the rest: the command changes nothing that a session keeps of its
    // client.
    bool may_be_sent = false;
    // All its keys have come; if they may stand in the rest, it counts as touching any key.
    bool keys_known = false;
  };
  // `command`: null if it is unknown. `args`: how many arguments have come whole.
  static Beginning judge(const resp::Command* command, Route route, std::size_t args);

  enum class Fate : std::uint8_t { kSent, kDropped };
  void begin(Fate fate) { state_ = fate == Fate::kSent ? State::kSent : State::kDropped; }
  bool goes_on() const { return state_ != State::kNone; }
  bool is_sent() const { return state_ == State::kSent; }

  struct Taken {
    std::size_t bytes = 0;     // of those that were given, the request's
    std::string_view to_send;  // those, or nothing if it is dropped
    bool is_broken = false;    // nothing of the client's can be understood behind it
  };
  // What the client has sent, from the request's first byte on and then on from where take() has
  // stopped. REQUIRES goes_on().
  Taken take(resp::RequestParser& parser, std::string_view bytes);

 private:
  enum class State : std::uint8_t { kNone, kSent, kDropped } state_ = State::kNone;
};

}  // namespace heatsink::proxy
