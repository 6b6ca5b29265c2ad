// SPDX-License-Identifier: Apache-2.0
// Passes on a request that is too big to buffer as its bytes arrive, or drops it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heatsink/command/route.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// One per client, from the moment its parser returns kOversized until the request ends: `judge()
// (begin() take()*)*`. Keeps none of the bytes. Not thread-safe.
class OversizedRequest {
 public:
  // Known from the arguments that have arrived.
  struct Beginning {
    // The request may be sent on: its command changes nothing that the session tracks, so the proxy
    // need not see the rest.
    bool may_be_sent = false;
    // All keys have arrived. Otherwise the request counts as touching any key.
    bool keys_known = false;
  };
  // `command`: null if unknown. `args`: how many arguments have arrived completely.
  static Beginning judge(const resp::Command* command, Route route, std::size_t args);

  enum class Fate : std::uint8_t { kSent, kDropped };
  void begin(Fate fate) { state_ = fate == Fate::kSent ? State::kSent : State::kDropped; }
  bool is_active() const { return state_ != State::kNone; }
  bool is_sent() const { return state_ == State::kSent; }

  struct Taken {
    std::size_t bytes = 0;     // bytes of the input that belong to the request
    std::string_view to_send;  // these bytes, or nothing if the request is dropped
    bool is_broken = false;    // nothing after it can be parsed
  };
  // Takes the next bytes: first from the request's first byte, then from where the last take()
  // stopped. REQUIRES is_active().
  Taken take(resp::RequestParser& parser, std::string_view bytes);

 private:
  enum class State : std::uint8_t { kNone, kSent, kDropped } state_ = State::kNone;
};

}  // namespace heatsink::proxy
