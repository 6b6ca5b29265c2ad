// SPDX-License-Identifier: Apache-2.0
// Adds up the counts of all workers: one window for each measure that the rules need.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heatsink/detect/detect.h"

namespace heatsink::copies {

// The keeper's thread. Holds the latest summary of each worker and measure, and one merged window
// for each measure.
class MergedCounts {
 public:
  static constexpr std::size_t kKeysMax = 4096;  // that a merged window lists

  MergedCounts(std::span<const detect::Measure> measures, std::size_t workers);

  // The latest counts of a worker. Those of another measure are dropped: after a change of the
  // rules a worker may still count by the old ones for a moment.
  void take(std::size_t worker, detect::Summary summary);
  void merge();  // O(keys of all workers)
  // The rules need these measures from now on. Counts of measures that stay are kept: workers
  // replace them at their next tick.
  void follow(std::span<const detect::Measure> measures);

  // As of the last merge(), in the order of the measures.
  const std::vector<detect::Summary>& windows() const { return windows_; }
  // The counts of the measure for all keys.
  const detect::Summary& of_all() const { return windows_.front(); }
  // How long the counts of this measure cover. The window moves in slots: nothing is left of the
  // oldest one, and the latest one has only begun. 0: nothing has been counted by it.
  double seconds(const detect::Measure& measure) const;
  bool has_accesses() const;

 private:
  std::size_t place_of(const detect::Measure& measure) const;

  std::vector<detect::Measure> measures_;
  std::vector<std::vector<detect::Summary>> of_workers_;  // by measure and worker: the latest
  std::vector<detect::Summary> windows_;
};

}  // namespace heatsink::copies
