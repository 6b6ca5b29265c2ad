// SPDX-License-Identifier: Apache-2.0
// Follows one server by its name: managed services move the name when another server takes over.
#pragma once

#include "heatsink/topology/leader_resolver.h"
#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

// The server is another one when its name does not lead any more to the address in use.
class NameWatch final : public LeaderWatch {
 public:
  static constexpr Nanos kInterval = std::chrono::seconds(3);
  // Between two renewals of all connections because of a doubt.
  static constexpr Nanos kDoubtPause = std::chrono::seconds(5);

  NameWatch(net::EventLoop& loop, LeaderWatchOptions options, Listener& listener);
  ~NameWatch() override;

  void begin() override;
  void doubt() override;

 private:
  void look();
  void found(const Result<LeaderResolver::Addresses>& addresses);

  net::EventLoop& loop_;
  const LeaderWatchOptions options_;
  Listener& listener_;
  LeaderResolver resolver_;
  LeaderResolver::Addresses in_use_;  // the first one is connected to
  TimePoint renewed_at_ = TimePoint::min();
  bool is_looking_ = false;
  bool is_doubted_ = false;
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::topology
