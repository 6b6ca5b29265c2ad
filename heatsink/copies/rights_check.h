// SPDX-License-Identifier: Apache-2.0
// Tests which rights the proxy's user has at the server, and logs the missing ones, a line each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/needed_rights.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// It tries the commands, because only the server can interpret its ACL rules. Each check uses its
// own connection and some ten small commands; refused ones appear in the server's ACL LOG. The
// keeper's thread.
class RightsCheck {
 public:
  static constexpr Nanos kPause = std::chrono::seconds(5);  // least pause between two checks
  // While a missing right prevents copies.
  static constexpr Nanos kAgain = std::chrono::seconds(60);

  RightsCheck(net::EventLoop& loop, NodeState& shared);
  ~RightsCheck();
  RightsCheck(const RightsCheck&) = delete;

  // Call it when the server is back or its rules have changed. Logs the result if it differs from
  // the last one.
  void check(bool is_cluster, TimePoint now);
  void check_again(TimePoint now) { check(is_cluster_, now); }
  void tick(TimePoint now);  // about every second

  // Why missing rights prevent local copies, in sentences; "": they do not.
  std::string why_no_copies() const;

 private:
  struct Asked;

  void take(const std::shared_ptr<Asked>& asked, Result<resp::Value> reply);
  void end(Asked& asked);
  void close();
  void log_changes(std::vector<policy::MissingRight> missing);

  net::EventLoop& loop_;
  NodeState& shared_;
  std::unique_ptr<redis::Pipeline> pipeline_;
  std::unique_ptr<redis::ServerConnection> connection_;
  std::shared_ptr<Asked> asked_;  // null: no check is under way
  net::TimerId close_timer_ = 0;
  TimePoint checked_at_{};
  bool is_cluster_ = false;
  bool again_ = false;  // requested meanwhile, or too soon
  std::vector<policy::MissingRight> missing_;
};

}  // namespace heatsink::copies
