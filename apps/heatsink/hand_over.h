// SPDX-License-Identifier: Apache-2.0
// Restarts the proxy without cutting connections: starts the program anew, and gives the listening
// sockets and the clients to the new process (docs/design/handover.md).
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "apps/heatsink/live_configuration.h"
#include "apps/heatsink/process/start_again.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/handover/handover.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// The environment variable that tells a process which descriptor leads to its predecessor.
inline constexpr const char* kTakeOverVariable = "HEATSINK_TAKE_OVER_FD";

// A new process whose hand-over does not succeed is killed, and this one goes on serving. The main
// thread calls it; one thread of its own talks to the new process.
class HandOver {
 public:
  // `proxy`, `live` and `admin` (null: none) outlive it. `on_takeover` is called when the process
  // with this id serves the clients, on the thread of the hand-over.
  HandOver(proxy::Proxy& proxy, const LiveConfiguration& live, httpd::HttpServer* admin,
           ProgramStart program, std::function<void(pid_t)> on_takeover);
  ~HandOver() { end(); }
  HandOver(const HandOver&) = delete;

  // Ends a hand-over that has not succeeded. Call it before the proxy drains.
  void end();
  // Starts the new process. No effect while a hand-over is under way.
  void begin();
  bool is_under_way() const { return state_ == State::kUnderWay; }
  // The new process serves the clients that could be moved: this one drains the others, and exits.
  bool is_done() const { return state_ == State::kDone; }

 private:
  enum class State : std::uint8_t { kIdle, kUnderWay, kDone };

  void run();
  Status converse(handover::Channel& channel, pid_t successor);
  Status introduce(handover::Channel& channel, pid_t successor);
  Status await_ready(handover::Channel& channel, pid_t successor);
  Status give_clients(handover::Channel& channel, pid_t successor);
  Result<handover::Message> await(handover::Channel& channel, pid_t successor, Nanos limit) const;
  handover::Offer offer() const;
  void set_accepting(bool wanted);
  std::vector<handover::Message> rules() const;
  std::vector<handover::Message> keys() const;

  proxy::Proxy& proxy_;
  const LiveConfiguration& live_;
  httpd::HttpServer* const admin_;
  const ProgramStart program_;
  const std::function<void(pid_t)> on_takeover_;
  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> ends_{false};
  bool accepts_ = true;                               // false once the successor may accept
  std::uint32_t version_ = handover::kOldestVersion;  // which the successor knows, too
  std::thread thread_;
};

// Waits for a signal. SIGUSR2 begins a hand-over and is not returned. Returns 0 when a hand-over is
// done. REQUIRES that all threads block `signals`, which contain SIGUSR2.
int next_signal(const sigset_t& signals, HandOver& hand_over);

}  // namespace heatsink::app
