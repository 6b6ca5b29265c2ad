// SPDX-License-Identifier: Apache-2.0
// Counts the key accesses of one worker, and reports the counts to the keeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "heatsink/command/known_commands.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/access_counter.h"
#include "heatsink/relief/shared_state.h"

namespace heatsink::proxy {

// One per worker; its thread. Sessions count through counter(), so a request costs no call of this
// class. A report costs as much as thousands of accesses.
class AccessReports {
 public:
  // `urgent`: the keeper looks at it at once.
  using Post = std::function<void(std::vector<detect::Summary> summaries, bool urgent)>;

  // All outlive it.
  AccessReports(SharedState& shared, net::EventLoop& loop, Post post);
  ~AccessReports() { loop_.cancel(urgent_timer_); }
  AccessReports(const AccessReports&) = delete;

  AccessCounter* counter() const { return counter_.get(); }  // null: detection is off
  // Null: no rule counts bytes. Changes with the configuration only.
  ReplySizes* reply_sizes() const { return counter_ ? counter_->reply_sizes() : nullptr; }
  CommandNumbers* command_numbers() const { return counter_ ? &counter_->commands() : nullptr; }
  std::size_t memory_bytes() const { return counter_ ? counter_->memory_bytes() : 0; }

  void follow_policy();                     // NodeState::current() is another one
  void tick();                              // reports what was counted since the last report
  void end_turn();                          // reports at once if a key is urgent
  bool is_quiet() const { return quiet_; }  // the last report was empty

 private:
  void follow_fleet();
  void post(bool urgent);

  SharedState& shared_;
  net::EventLoop& loop_;
  const Post post_;
  std::unique_ptr<AccessCounter> counter_;
  net::TimerId urgent_timer_ = 0;
  std::uint64_t counted_for_ = 1;  // NodeState::fleet_instances that the counter knows
  bool quiet_ = true;
};

}  // namespace heatsink::proxy
