// SPDX-License-Identifier: Apache-2.0
// A tracker's socket: connects, carries bytes, and comes back with back-off.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/proxy/shared_state.h"
#include "heatsink/redis/redis.h"

namespace heatsink::proxy {

// The keeper's thread.
class TrackerLink final : public net::FdHandler {
 public:
  // `without_it` says what there is none of while the connection is lost: "no local copies".
  // `since` (may be null) is told when it was made.
  TrackerLink(net::EventLoop& loop, SharedState& shared, redis::Tracker& tracker,
              std::string without_it, std::atomic<Nanos::rep>* since)
      : loop_(loop),
        shared_(shared),
        tracker_(tracker),
        without_it_(std::move(without_it)),
        since_(since) {}
  ~TrackerLink();
  TrackerLink(const TrackerLink&) = delete;

  void connect();
  void retry();                     // now, if it waits for its next attempt
  void renew(TimePoint if_before);  // a connection made before that is closed and made again
  void tick();                      // at least every heartbeat interval
  void flush();                     // after anything that may have made the tracker speak
  const std::string& problem() const { return problem_; }  // "" while connected

  void on_readable() override;
  void on_writable() override;

 private:
  void lost(const std::string& reason);
  void look_up_again();

  net::EventLoop& loop_;
  SharedState& shared_;
  redis::Tracker& tracker_;
  const std::string without_it_;
  std::atomic<Nanos::rep>* const since_;
  net::Stream socket_;
  bool connected_ = false;
  TimePoint connected_at_{};
  net::TimerId timer_ = 0;  // connect time-out, or the next attempt
  Nanos backoff_{0};
  std::size_t attempt_ = 0;
  std::string problem_ = "not connected yet";
};

}  // namespace heatsink::proxy
