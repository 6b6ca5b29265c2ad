// SPDX-License-Identifier: Apache-2.0
// Asks the server what the proxy's user may do, and says what is missing, a line each, in the log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/needed_rights.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// By trying: the rules of ACL are the server's to read. Each check is a connection of its own and
// eight small commands; what is refused stands in the server's ACL LOG. The keeper's thread.
class RightsCheck {
 public:
  static constexpr Nanos kPause = std::chrono::seconds(5);   // between two checks, at least
  static constexpr Nanos kAgain = std::chrono::seconds(60);  // while there are no copies for want
                                                             // of a right

  RightsCheck(net::EventLoop& loop, NodeState& shared);
  ~RightsCheck();
  RightsCheck(const RightsCheck&) = delete;

  // The server is there, or its rules have changed. What is found is said if it is another than
  // before.
  void check(bool is_cluster, TimePoint now);
  void check_again(TimePoint now) { check(is_cluster_, now); }
  void tick(TimePoint now);  // about every second

  // Why there are no local copies, as far as rights are why: sentences, or "".
  std::string against_copies() const;

 private:
  struct Asked;

  void take(const std::shared_ptr<Asked>& asked, Result<resp::Value> reply);
  void end(Asked& asked);
  void close();
  void say(std::vector<policy::MissingRight> missing);

  net::EventLoop& loop_;
  NodeState& shared_;
  std::unique_ptr<redis::Pipeline> pipeline_;
  std::unique_ptr<redis::ServerConnection> connection_;
  std::shared_ptr<Asked> asked_;  // null: no check is under way
  net::TimerId close_timer_ = 0;
  TimePoint checked_at_{};
  bool is_cluster_ = false;
  bool again_ = false;  // it was asked for meanwhile, or too soon
  std::vector<policy::MissingRight> missing_;
};

}  // namespace heatsink::copies
