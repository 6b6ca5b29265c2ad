// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder_set.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heatsink::detect {

RecorderSet::RecorderSet(const RecorderOptions& common, std::span<const MeasureOptions> measures) {
  restart(common, measures);
}

void RecorderSet::restart(const RecorderOptions& common, std::span<const MeasureOptions> measures) {
  common_ = common;
  recorders_.clear();
  measures_.clear();
  reconfigure(measures);
}

void RecorderSet::reconfigure(std::span<const MeasureOptions> measures) {
  assert(!measures.empty() && measures.size() <= kMeasuresMax);
  std::vector<Recorder> before = std::exchange(recorders_, {});
  const std::vector<Measure> known = std::exchange(measures_, {});
  recorders_.reserve(measures.size());
  for (const MeasureOptions& each : measures) {
    const bool is_first = recorders_.empty();
    const auto same = std::find(known.begin(), known.end(), each.measure);
    const bool was_first = same == known.begin();
    if (same != known.end() && (is_first == was_first || common_.template_bytes == 0)) {
      recorders_.push_back(std::move(before[static_cast<std::size_t>(same - known.begin())]));
      recorders_.back().set_levels(each.urgent_count, each.worth_tracking);
    } else {
      recorders_.push_back(make(each, measures.size(), is_first));
    }
    measures_.push_back(each.measure);
  }
}

Recorder RecorderSet::make(const MeasureOptions& measure, std::size_t measures,
                           bool is_first) const {
  RecorderOptions options = common_;
  options.window = measure.measure.window;
  options.dimension = measure.measure.dimension;
  options.memory_bytes = common_.memory_bytes / measures;
  options.urgent_count = measure.urgent_count;
  options.worth_tracking = measure.worth_tracking;
  if (!is_first) options.template_bytes = 0;  // once is enough
  return Recorder(options);
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
