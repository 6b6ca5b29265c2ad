// SPDX-License-Identifier: Apache-2.0
// Carries out what an operator orders for the copies of a key, and says whether they come back.
#pragma once

#include <optional>
#include <string>

#include "heatsink/copies/copy_admission.h"
#include "heatsink/copies/event_log.h"
#include "heatsink/copies/hot_keys.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// The keeper's thread. No clock, no state of its own.
class CopyOrders {
 public:
  // All outlive it.
  CopyOrders(NodeState& shared, const HotKeys& hot_keys, const CopyAdmission& admission,
             EventLog& events)
      : shared_(shared), hot_keys_(hot_keys), admission_(admission), events_(events) {}

  // Drops the copies of the key, and notes it. `key` may have a redacted name: a user who sees
  // those can only ask by one. `who`: for the event.
  report::DropReport drop(const report::WarmKey& key, const std::string& who, TimePoint now);
  // An operator has ordered something; `reason` says what, and who. `key`: without a name, the
  // order is not about a single one.
  void note(std::string reason, const report::WarmKey& key, TimePoint now);

 private:
  std::optional<KeyHash> key_shown_as(const report::WarmKey& name, TimePoint now) const;

  NodeState& shared_;
  const HotKeys& hot_keys_;
  const CopyAdmission& admission_;
  EventLog& events_;
};

}  // namespace heatsink::copies
