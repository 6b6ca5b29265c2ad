// SPDX-License-Identifier: Apache-2.0
// Answers reads from copies that may be stale, for rules that prefer this to a refusal.
#pragma once

#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// The relief for `over: stale`, behind the limits. One per session; one worker's thread.
class StaleReads final : public Relief {
 public:
  // Both outlive it.
  StaleReads(const WorkerParts& parts, CopyLookup& lookup) : parts_(parts), lookup_(lookup) {}

  // Called when a limit refuses the request. kAnswered: keys whose rule says `over: stale` were
  // answered from copies without a proof, all others from proven copies. Does not answer behind the
  // client's own commands in flight on a key, nor a user whose right to read it is unproven.
  Outcome refused(const Request& request);

 private:
  bool find_unproven(CopyLookup::Key& key, const cache::Read& read, TimePoint now) const;

  const WorkerParts& parts_;
  CopyLookup& lookup_;
};

}  // namespace heatsink::proxy
