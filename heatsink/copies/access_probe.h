// SPDX-License-Identifier: Apache-2.0
// Finds out whether the server lets in a client that has said nothing.
#pragma once

#include <functional>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"

namespace heatsink::copies {

// The proxy's own connections stay logged in whatever happens to the rules, so they cannot tell:
// each answer takes a connection of its own, one PING, and sets NodeState::upstream_open. Without
// an answer (the server is away, or full) what was known stays.
//
// The keeper's thread.
class AccessProbe final : public net::FdHandler {
 public:
  AccessProbe(net::EventLoop& loop, NodeState& shared) : loop_(loop), shared_(shared) {}
  ~AccessProbe();
  AccessProbe(const AccessProbe&) = delete;

  // `done` (may be empty) is called when an answer that was asked for after this call is known, or
  // cannot be had.
  void check(std::function<void()> done);

  void on_readable() override;
  void on_writable() override;

 private:
  void start();
  void finish();

  net::EventLoop& loop_;
  NodeState& shared_;
  net::Stream socket_;
  bool asked_it_ = false;
  net::TimerId timer_ = 0;
  bool running_ = false;
  std::vector<std::function<void()>> asked_;    // of the probe now running
  std::vector<std::function<void()>> waiting_;  // for the one after it
  bool again_ = false;
};

}  // namespace heatsink::copies
