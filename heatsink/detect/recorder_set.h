// SPDX-License-Identifier: Apache-2.0
// Counts the accesses of one thread for rules with several windows and dimensions: a recorder for
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/detect/measure.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

struct MeasureOptions {
  Measure measure;
  // As in RecorderOptions, in the measure's unit.
  CountLevel urgent_count = UINT64_MAX;
  CountLevel worth_tracking = 0;
};

// Belongs to one thread; divides the memory of `common` among its recorders. Templates are counted
// over the window of the first measure. record() costs as much
// as all recorders together: with one measure, one predicted branch more than Recorder::record().
// REQUIRES: 1 .. kMeasuresMax measures.
class RecorderSet {
 public:
  RecorderSet(const RecorderOptions& common, std::span<const MeasureOptions> measures);

  // True if the access made its key urgent in one of the measures.
  bool record(const Access& access, TimePoint now) noexcept {
    bool urgent = false;
    for (Recorder& recorder : recorders_) urgent |= recorder.record(access, now);
    return urgent;
  }

  // Calls Recorder::drain() of each; for the end of an event loop's turn.
  bool drain(TimePoint now) noexcept;

  // One for each measure, in their order. `floors` has the same order; a missing floor is 0.
  std::vector<Summary> summarize(TimePoint now, std::size_t keys_max,
                                 std::span<const CountLevel> floors = {});

  // Other measures and levels from now on. A measure that stays keeps its counts, and its memory:
  // so all together may take up to 25/12 of `memory_bytes` (a measure at a time, up to
  // kMeasuresMax). The first measure counts the templates: another one in its place begins anew.
  void reconfigure(std::span<const MeasureOptions> measures);
  // Continues with other slots or another memory: all counts begin anew.
  void restart(const RecorderOptions& common, std::span<const MeasureOptions> measures);

  std::size_t memory_bytes() const;  // total; only reconfigure() and restart() change it

 private:
  Recorder make(const MeasureOptions& measure, std::size_t measures, bool is_first) const;

  RecorderOptions common_;
  std::vector<Measure> measures_;  // of `recorders_`
  std::vector<Recorder> recorders_;
};

}  // namespace heatsink::detect
