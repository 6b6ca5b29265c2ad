// SPDX-License-Identifier: Apache-2.0
// Follows the counts of a whole fleet, and divides the thresholds while they are not known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/net/net.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// While the list of the fleet is not known, this proxy goes on alone: with its part of the
// thresholds, by the number of instances that were known last. So hot keys stay hot.
//
// The keeper's thread.
class FleetCounts {
 public:
  explicit FleetCounts(NodeState& shared) : shared_(shared) {}
  FleetCounts(const FleetCounts&) = delete;

  // Joins the fleet if the options ask for it, with connections of its own. `counted` and `on_list`
  // as in fleet::Link. Without this call there is no fleet.
  void begin(net::EventLoop& loop, fleet::Link::Counted counted, fleet::Link::OnList on_list);
  void set_credentials(const redis::Credentials& credentials);

  // Takes what the fleet knows now. Returns the selector's options if its thresholds are to be
  // divided by another number from now on.
  std::optional<detect::SelectorOptions> follow(TimePoint now);
  // The same for this list (null: not known), and for the number of instances that were known last.
  std::optional<detect::SelectorOptions> take(const fleet::List& list, std::uint64_t instances);
  // NodeState has other options, and the selector already has them.
  void follow_options();

  // Of the list, by measure; empty: not known.
  const std::vector<detect::FleetWindow>& windows() const { return windows_; }
  std::optional<report::FleetReport> report(TimePoint now) const;  // nothing: there is no fleet

 private:
  NodeState& shared_;
  std::unique_ptr<fleet::Link> link_;  // null: this proxy counts alone
  fleet::List list_;                   // as of the last judging; null: not known
  std::vector<detect::FleetWindow> windows_;
  std::uint64_t alone_as_ = 1;  // the selector has thresholds divided by this
};

}  // namespace heatsink::copies
