// SPDX-License-Identifier: Apache-2.0
// Gives the hottest keys automatic limits (limits.automatic-qps), and describes limits to people.
#pragma once

#include <string>

#include "heatsink/copies/event_log.h"
#include "heatsink/copies/hot_keys.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/policy/automatic_limits.h"

namespace heatsink::copies {

// An automatic limit caps the load on the server. Verdicts flow in; limits in NodeState::limits()
// and events flow out. The keeper's thread; no clock.
class HottestLimits {
 public:
  // Both outlive it.
  HottestLimits(NodeState& shared, EventLog& events)
      : shared_(shared),
        events_(events),
        automatic_(shared.options().automatic_qps, policy::Limits::kAutomaticMax) {}

  // After each judging. Keys with a limit of their own rule are skipped. Does nothing without the
  // option.
  void update(const HotKeys& hot_keys, TimePoint now);
  // NodeState has other options. If automatic limits are off now, all of them end.
  void follow_options(const policy::ProxyOptions& before, TimePoint now);

  // The limit of a key's rule, or its automatic one; "": it has none.
  std::string limit_on(const detect::KeyCount& count) const;

 private:
  NodeState& shared_;
  EventLog& events_;
  policy::AutomaticLimits automatic_;
};

}  // namespace heatsink::copies
