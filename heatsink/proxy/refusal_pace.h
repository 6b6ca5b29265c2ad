// SPDX-License-Identifier: Apache-2.0
// How soon a client is told that it is over a limit.
#pragma once

#include <cstdint>

namespace heatsink::proxy {

// A refusal costs the proxy as much as a hit, and a client that floods a key asks again as soon as
// it has one. So who asks for nothing else is told later: a refusal waits behind kAtOnce others in
// a row if its client waits for it, or else if it is every kAtOnce-th, which is what a pipeline
// gets. Any other request of the client ends the row: a connection that many users share, of whom
// one floods, is not held up.
//
// Of one session: `(must_wait -> waited -> the request asks again)? (refused | passed)`.
class RefusalPace {
 public:
  static constexpr std::uint32_t kAtOnce = 64;

  // The request is to be refused; `is_last`: nothing of its client's has come behind it. True: not
  // before it has waited, and has been asked about again.
  bool must_wait(bool is_last) {
    if (in_row_ < kAtOnce || state_ == State::kWaited) return false;
    if (!is_last && in_row_ % kAtOnce != 0) return false;
    state_ = State::kWaits;
    return true;
  }
  bool waits() const { return state_ == State::kWaits; }
  void waited() { state_ = State::kWaited; }

  void refused() {  // and its client told so
    ++in_row_;
    state_ = State::kReady;
  }
  void passed() {  // a request that was not
    in_row_ = 0;
    state_ = State::kReady;
  }
  std::uint32_t in_row() const { return in_row_; }

 private:
  enum class State : std::uint8_t { kReady, kWaits, kWaited };

  std::uint32_t in_row_ = 0;
  State state_ = State::kReady;
};

}  // namespace heatsink::proxy
