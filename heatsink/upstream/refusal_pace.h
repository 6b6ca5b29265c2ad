// SPDX-License-Identifier: Apache-2.0
// Delays the errors of clients that send only refused requests.
#pragma once

#include <cstdint>

namespace heatsink::proxy {

// A refusal costs the proxy as much as a hit, and a client that floods a key sends its next request
// as soon as it has the error. So a client that sends only refused requests gets its errors later.
// After kAtOnce refusals in a row, a refusal is delayed if the client waits for it; in a pipeline,
// every kAtOnce-th refusal is delayed. Any other request of the client ends the row, so one
// flooding user does not slow down the others on a connection that many users share.
//
// One per session: `(must_wait -> waited -> the request asks again)? (refused | passed)`.
class RefusalPace {
 public:
  static constexpr std::uint32_t kAtOnce = 64;

  // The request will be refused. `is_last`: the client has sent nothing after it. True: the refusal
  // must first wait, and the request is checked again.
  bool must_wait(bool is_last) {
    if (in_row_ < kAtOnce || state_ == State::kWaited) return false;
    if (!is_last && in_row_ % kAtOnce != 0) return false;
    state_ = State::kWaits;
    return true;
  }
  bool waits() const { return state_ == State::kWaits; }
  void waited() { state_ = State::kWaited; }

  void refused() {  // the client gets the error
    ++in_row_;
    state_ = State::kReady;
  }
  void passed() {  // a request was not refused
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
