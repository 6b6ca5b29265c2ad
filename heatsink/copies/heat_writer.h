// SPDX-License-Identifier: Apache-2.0
// Adds what the proxy counted in the last second to the history of what was hot.
#pragma once

#include <span>

#include "heatsink/copies/duration_histogram.h"
#include "heatsink/copies/load_window.h"
#include "heatsink/detect/detect.h"
#include "heatsink/heat/heat.h"
#include "heatsink/policy/key_display.h"

namespace heatsink::copies {

// The keeper's thread only; readers of the history may be in others. Both arguments must outlive
// it.
class HeatWriter {
 public:
  HeatWriter(const policy::KeyDisplay& shown, heat::History& history)
      : shown_(shown), history_(history) {}

  // Call it about once a second. `counted`: of all keys and workers; one that was written before is
  // left out. `latencies`: of each worker's clients; their p50 and p99 are of the time since the
  // last call. About 50 us.
  void write(const detect::Summary& counted, const LoadWindow::Span& load,
             std::span<const DurationHistogram* const> latencies);

 private:
  const policy::KeyDisplay& shown_;
  heat::History& history_;
  DurationHistogram::Counts before_{};
};

}  // namespace heatsink::copies
