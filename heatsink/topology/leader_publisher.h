// SPDX-License-Identifier: Apache-2.0
// Passes the verdicts of a watch on, each change once.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

// The loop's thread. The leader is another one, too, when its name does not lead any more to the
// address that was published first.
class LeaderPublisher {
 public:
  explicit LeaderPublisher(LeaderWatch::Listener& listener) : listener_(listener) {}

  void publish(const LeaderVerdict& verdict, const LeaderResolver::Addresses& addresses) {
    const bool has_moved = verdict.leader && !leads_to_the_same(addresses);
    const bool is_new =
        !said_ || said_->leader != verdict.leader || said_->problem != verdict.problem || has_moved;
    const TimePoint before = said_ ? said_->confirmed_at : TimePoint::min();
    said_ = verdict;
    if (has_moved) addresses_ = addresses;
    if (is_new) listener_.leader_changed(verdict, addresses_, has_moved);
    if (is_new || verdict.confirmed_at != before) listener_.leader_confirmed(verdict.confirmed_at);
  }

 private:
  bool leads_to_the_same(const LeaderResolver::Addresses& addresses) const {
    return !addresses_.empty() &&
           std::any_of(addresses.begin(), addresses.end(),
                       [this](const auto& each) { return same_address(each, addresses_.front()); });
  }

  LeaderWatch::Listener& listener_;
  LeaderResolver::Addresses addresses_;
  std::optional<LeaderVerdict> said_;
};

}  // namespace heatsink::topology
