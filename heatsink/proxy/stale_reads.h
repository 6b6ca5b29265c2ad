// SPDX-License-Identifier: Apache-2.0
// Answers a client's reads from copies that may be stale, where a rule prefers that to a refusal.
#pragma once

#include "heatsink/proxy/copy_lookup.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// The relief behind a limit (`over: stale`). Of one session; one worker's thread.
class StaleReads final : public Relief {
 public:
  // Both outlive it.
  StaleReads(const WorkerParts& parts, CopyLookup& lookup) : parts_(parts), lookup_(lookup) {}

  // A limit refuses the request. kAnswered: from copies that nothing need prove, of each key whose
  // rule asks for that; of the others from proven ones. Not behind the client's own commands in
  // flight on a key, and not for users who have not proven that they may read it.
  Outcome refused(const Request& request);

 private:
  bool find_unproven(CopyLookup::Key& key, const cache::Read& read, TimePoint now) const;

  const WorkerParts& parts_;
  CopyLookup& lookup_;
};

}  // namespace heatsink::proxy
