// SPDX-License-Identifier: Apache-2.0
// Notes in the event log when an outage begins and ends in which copies may be served unproven.
#pragma once

#include <string>

#include "heatsink/copies/event_log.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::copies {

// Only copies with stale-while-error outlast their proof; without any there is nothing to note. The
// keeper's thread; no clock.
class OutageNotes {
 public:
  // Both outlive it.
  OutageNotes(const NodeState& shared, EventLog& events) : shared_(shared), events_(events) {}

  // Each change of the proof once, as Filler::Listener has it. O(copies).
  void proof_ended(const std::string& reason, TimePoint now);
  void proof_is_back(TimePoint now);

 private:
  const NodeState& shared_;
  EventLog& events_;
  bool is_noted_ = false;  // the outage under way
};

}  // namespace heatsink::copies
