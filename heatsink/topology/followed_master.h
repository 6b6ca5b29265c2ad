// SPDX-License-Identifier: Apache-2.0
// Follows one server that may move: keeps its address current, in an order in which no copy
// outlives the move.
#pragma once

#include <memory>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

// Members of the loop's thread, except doubt(). A server that cannot move is not watched: then the
// listener is never called.
class FollowedMaster final : public LeaderWatch::Listener {
 public:
  // One verdict of the watch, and what it changed.
  struct Change {
    const LeaderVerdict& verdict;
    std::string before;           // the address before, "host:port"
    bool is_move = false;         // connections are made anew: the next four say why
    bool was_withheld = false;    // there was no server before
    bool is_other = false;        // the address is another one
    bool renews = false;          // the watch asks for it
    bool is_elsewhere = false;    // the name of the same server leads to another machine now
    bool is_new_problem = false;  // the problem is another one than before, or there is none now
    bool had_led = false;         // some server was in use before
  };
  class Listener {
   public:
    // Each verdict: `(leave_master follow_master)? master_told`.
    // No copy may be served from now on: connections will lead to another server, or to none.
    virtual void leave_master() = 0;
    // The address is the new one, or is withheld: connections must follow it.
    virtual void follow_master() = 0;
    virtual void master_told(const Change& change) = 0;
    // LeaderVerdict::confirmed_at of the server has changed.
    virtual void master_confirmed(TimePoint at) = 0;

   protected:
    ~Listener() = default;
  };

  // All outlive it.
  FollowedMaster(net::EventLoop& loop, redis::UpstreamAddress& address, Listener& listener)
      : loop_(loop), address_(address), listener_(listener) {}

  // Call it at most once, before the loop runs. `has_led`: the address is that of a server already.
  void begin(LeaderWatchOptions options, ServerCredentials credentials, bool has_led);
  void end() { watch_.reset(); }  // it says nothing more

  // The server in use has proven that it is a master.
  void note_proof() { proven_since_move_ = true; }
  // Any thread. The server refuses writes, or has become a replica: the watch looks at once. Has no
  // effect if it has proven nothing yet: a replica from the start is what the operator wants.
  // Looks in a later turn of the loop, until which this object must live.
  void doubt();

  bool has_led() const { return has_led_; }  // some server was in use
  const std::string& problem() const { return problem_; }
  SentinelCounts counts() const { return watch_ == nullptr ? SentinelCounts{} : watch_->counts(); }

 private:
  void leader_changed(const LeaderVerdict& verdict, const LeaderResolver::Addresses& addresses,
                      bool renews) override;
  void leader_confirmed(TimePoint at) override { listener_.master_confirmed(at); }
  void leave();

  net::EventLoop& loop_;
  redis::UpstreamAddress& address_;
  Listener& listener_;
  std::unique_ptr<LeaderWatch> watch_;  // null: the server cannot move, or end() was called
  std::string problem_;
  bool has_led_ = false;
  bool proven_since_move_ = false;
};

}  // namespace heatsink::topology
