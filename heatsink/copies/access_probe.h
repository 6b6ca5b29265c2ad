// SPDX-License-Identifier: Apache-2.0
// Finds out whether the server lets in a client that has not logged in.
#pragma once

#include <functional>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"

namespace heatsink::copies {

// The proxy's own connections stay logged in when the rules change, so they cannot tell. Each probe
// opens its own connection, sends one PING and sets NodeState::upstream_open. Without an answer
// (the server is away or full) the old value stays.
//
// The keeper's thread.
class AccessProbe final : public net::FdHandler {
 public:
  AccessProbe(net::EventLoop& loop, NodeState& shared) : loop_(loop), shared_(shared) {}
  ~AccessProbe();
  AccessProbe(const AccessProbe&) = delete;

  // Calls `done` (may be empty) when a probe that began after this call has ended, with or without
  // an answer.
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
  std::vector<std::function<void()>> asked_;    // for the running probe
  std::vector<std::function<void()>> waiting_;  // for the probe after it
  bool again_ = false;
};

}  // namespace heatsink::copies
