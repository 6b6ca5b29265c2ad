// SPDX-License-Identifier: Apache-2.0
// What a worker hands to the keeper for the choice of what gets a copy.
#pragma once

#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/copies/traffic_meter.h"

namespace heatsink::copies {

struct WorkerSample {
  std::vector<admit::SampledAccess> accesses;
  std::vector<admit::SampledHit> hits;
  ServerWork work{};  // what the server did for this worker since the last sample

  bool empty() const { return accesses.empty() && hits.empty(); }
};

}  // namespace heatsink::copies
