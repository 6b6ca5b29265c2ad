// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/admission_sketch.h"

#include <algorithm>

namespace heatsink::detect {
AdmissionSketch::AdmissionSketch(std::size_t bytes, std::uint64_t seed, unsigned unit_bits)
    : lines_(std::max<std::size_t>(bytes / sizeof(Line), 1)),
      size_(lines_.size()),
      seed_(seed),
      unit_bits_(unit_bits) {}

void AdmissionSketch::move(const SlotClock::Move& move, const Position& position) {
  for (std::uint32_t lap = 0; lap < move.laps; ++lap) next_lap();
  const std::uint64_t turns_in_window = position.slots - 1 - position.slot;
  last_weight_ = (turns_in_window << 32) / position.slots;
}

void AdmissionSketch::next_lap() {
  lap_ ^= 1;
  for (Line& line : lines_) std::fill(std::begin(line.laps[lap_]), std::end(line.laps[lap_]), 0);
  absent_last_ = absent_now_;
  absent_now_ = 0;
}

void AdmissionSketch::take_back(std::uint64_t key, std::uint64_t now, std::uint64_t last) noexcept {
  const CellIndex at = locate(key);
  Line& line = lines_[at.line];
  Cells(line.laps[lap_], at.columns).raise(units(now));
  Cells(line.laps[lap_ ^ 1], at.columns).raise(units(last));
  absent_now_ = std::max(absent_now_, now);
  absent_last_ = std::max(absent_last_, last);
}

AdmissionSketch::Estimate AdmissionSketch::estimate(Reading reading,
                                                    std::uint64_t weight) const noexcept {
  const auto [now, last] = reading;
  Estimate estimate{std::uint64_t{now} << unit_bits_, std::uint64_t{last} << unit_bits_, 0,
                    now == kFull};
  // A cell fills up by single accesses or by take_back(); both have raised absent_now_, so it
  // bounds the count in the cell.
  if (now == kFull) estimate.now = std::max(estimate.now, absent_now_ + weight);
  if (last == kFull) estimate.last = std::max(estimate.last, absent_last_);
  estimate.window = estimate.now + (still_in_window(last) << unit_bits_);
  return estimate;
}

}  // namespace heatsink::detect
