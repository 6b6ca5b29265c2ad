// SPDX-License-Identifier: Apache-2.0
// What one thread counts when rules ask for several windows and dimensions: a recorder for each.
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
  std::uint64_t urgent_count = UINT64_MAX;
  std::uint64_t worth_tracking = 0;
};

// Belongs to one thread, as its recorders do; the memory of `common` is divided among them.
// record() costs as much as that of all recorders together: with one measure, one predicted branch
// more than Recorder::record(). REQUIRES: 1 .. kMeasuresMax measures.
class RecorderSet {
 public:
  RecorderSet(const RecorderOptions& common, std::span<const MeasureOptions> measures);

  // True when the access made its key urgent in one of the measures.
  bool record(const Access& access, TimePoint now) noexcept {
    bool urgent = false;
    for (Recorder& recorder : recorders_) urgent |= recorder.record(access, now);
    return urgent;
  }

  // At the end of an event loop's turn: Recorder::drain() of each.
  bool drain(TimePoint now) noexcept;

  // One for each measure, in their order; `floors` too, and a floor that is missing is 0.
  std::vector<Summary> summarize(TimePoint now, std::size_t keys_max,
                                 std::span<const std::uint64_t> floors = {});

  std::size_t memory_bytes() const;  // of all recorders; never changes

 private:
  std::vector<Recorder> recorders_;
};

}  // namespace heatsink::detect
