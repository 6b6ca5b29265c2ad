// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder_set.h"

#include <cassert>

namespace heatsink::detect {

RecorderSet::RecorderSet(const RecorderOptions& common, std::span<const MeasureOptions> measures) {
  assert(!measures.empty() && measures.size() <= kMeasuresMax);
  recorders_.reserve(measures.size());
  for (const MeasureOptions& each : measures) {
    RecorderOptions options = common;
    options.window = each.measure.window;
    options.dimension = each.measure.dimension;
    options.memory_bytes = common.memory_bytes / measures.size();
    options.urgent_count = each.urgent_count;
    options.worth_tracking = each.worth_tracking;
    if (!recorders_.empty()) options.template_bytes = 0;  // once is enough
    recorders_.emplace_back(options);
  }
}

bool RecorderSet::drain(TimePoint now) noexcept {
  bool urgent = false;
  for (Recorder& recorder : recorders_) urgent |= recorder.drain(now);
  return urgent;
}

std::vector<Summary> RecorderSet::summarize(TimePoint now, std::size_t keys_max,
                                            std::span<const CountLevel> floors) {
  std::vector<Summary> summaries;
  summaries.reserve(recorders_.size());
  for (std::size_t i = 0; i < recorders_.size(); ++i) {
    const CountLevel floor = i < floors.size() ? floors[i] : CountLevel();
    summaries.push_back(recorders_[i].summarize(now, keys_max, floor));
  }
  return summaries;
}

std::size_t RecorderSet::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Recorder& recorder : recorders_) bytes += recorder.memory_bytes();
  return bytes;
}

}  // namespace heatsink::detect
