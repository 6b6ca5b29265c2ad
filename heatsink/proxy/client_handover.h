// SPDX-License-Identifier: Apache-2.0
// Gives the clients of one worker to another process, and goes on with those that it refuses
// (docs/design/handover.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/handover/handover.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/served_clients.h"
#include "heatsink/session/carried_client.h"

namespace heatsink::proxy {

// One per worker; its thread, except where a comment says otherwise. Calls:
// `(announce begin (taken | refused)* end (taken | refused)*)*`. Costs one step every 2 ms while it
// is on, which looks at each client.
class ClientHandover {
 public:
  // As handover::Channel::send() to the other process.
  using Send = std::function<handover::Channel::Sent(const handover::Message& message,
                                                     std::span<const int> descriptors)>;
  static constexpr Nanos kGiveInterval = Millis(2);
  static constexpr std::size_t kPerStepMax = 256;  // clients that are not ready go on being served
  // The other process may not have found the client's server yet. It has about five seconds.
  static constexpr Nanos kAfterRefusal = Millis(50);
  static constexpr unsigned kRefusalsMax = 100;

  // All outlive it. `worker`: its index, with which its tokens begin.
  ClientHandover(std::size_t worker, ServedClients& clients, net::EventLoop& loop,
                 copies::Counters& counters)
      : worker_(worker), clients_(clients), loop_(loop), counters_(counters) {}
  ~ClientHandover() { loop_.cancel(timer_); }
  ClientHandover(const ClientHandover&) = delete;

  void announce() { to_give_ = 1; }  // any thread: begin() follows, and counts
  // `version`: of the hand-over, which the other process knows.
  void begin(Send send, std::uint32_t version);
  bool is_on() const { return send_ != nullptr; }
  void taken(std::uint64_t token);    // the other process has the client: forgets it
  void refused(std::uint64_t token);  // the other process has not touched it: it goes on here
  void end(bool takes_back);          // `takes_back`: clients that it may not have go on here

  // Any thread. Clients that are still to be given, or whose receipt is not confirmed. Those that
  // stay (Session::stays_behind()) do not count.
  std::uint64_t to_give() const { return to_give_.load(); }
  static std::size_t worker_of(std::uint64_t token) {
    return static_cast<std::size_t>(token >> kTokenShift);
  }

 private:
  static constexpr unsigned kTokenShift = 48;  // a token begins with the worker's number
  enum class Gift : std::uint8_t { kGiven, kLater, kFull, kKept };
  struct Refusals {
    unsigned count = 0;
    TimePoint at{};  // of the last one
  };

  void step();
  Gift give(std::uint64_t id, ServedClients::Client& client);
  Gift after_refusals(std::uint64_t id) const;
  handover::Channel::Sent send_gift(std::uint64_t token, const CarriedSession& session,
                                    const ServedClients::Client& client) const;
  void go_on_with(CarriedClient client);

  const std::size_t worker_;
  ServedClients& clients_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Send send_;  // null: no hand-over is on
  net::TimerId timer_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint32_t layout_ = CarriedSession::kOldestLayout;          // which that process reads
  std::unordered_map<std::uint64_t, CarriedClient> unconfirmed_;  // by token
  std::unordered_map<std::uint64_t, Refusals> refusals_;          // by client
  std::atomic<std::uint64_t> to_give_{0};
};

}  // namespace heatsink::proxy
