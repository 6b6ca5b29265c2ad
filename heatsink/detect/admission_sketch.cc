// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/admission_sketch.h"

#include <algorithm>

namespace heatsink::detect {
namespace {

constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25ULL;  // spreads the bits; any odd number does

std::size_t cell(std::uint64_t columns, std::size_t row) {
  return row * 4 + ((columns >> (2 * row)) & 3);
}

std::uint16_t smallest(const std::uint16_t* lap, std::uint64_t columns) {
  std::uint16_t least = lap[cell(columns, 0)];
  for (std::size_t row = 1; row < 4; ++row) least = std::min(least, lap[cell(columns, row)]);
  return least;
}

void raise(std::uint16_t* lap, std::uint64_t columns, std::uint16_t to) {
  for (std::size_t row = 0; row < 4; ++row) {
    std::uint16_t& count = lap[cell(columns, row)];
    count = std::max(count, to);
  }
}

}  // namespace

AdmissionSketch::AdmissionSketch(std::size_t bytes, std::uint64_t seed)
    : lines_(std::max<std::size_t>(bytes / sizeof(Line), 1)), seed_(seed) {}

AdmissionSketch::Place AdmissionSketch::place(KeyHash hash) const noexcept {
  const std::uint64_t mixed = (hash.value ^ seed_) * kOdd;
  return {static_cast<std::size_t>(((mixed >> 32) * lines_.size()) >> 32), (mixed >> 8) & 0xFF};
}

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

AdmissionSketch::Estimate AdmissionSketch::add(KeyHash hash, std::uint32_t weight) noexcept {
  const Place at = place(hash);
  Line& line = lines_[at.line];
  const std::uint16_t before = smallest(line.laps[lap_], at.columns);
  const std::uint16_t last = smallest(line.laps[lap_ ^ 1], at.columns);
  const auto now =
      static_cast<std::uint16_t>(std::min<std::uint64_t>(std::uint64_t{before} + weight, kFull));
  raise(line.laps[lap_], at.columns, now);
  Estimate estimate{now, last, now + still_in_window(last)};
  if (now == kFull) {
    // A full cell counts no further, so its key is admitted at once (16 bits that stay full would
    // lock a hot key out); what it held can only have come in one by one or by take_back().
    estimate.now = static_cast<std::uint32_t>(std::max<std::uint64_t>(kFull, absent_now_ + weight));
    estimate.window = UINT32_MAX;
  }
  if (last == kFull) {
    estimate.last = static_cast<std::uint32_t>(std::max<std::uint64_t>(kFull, absent_last_));
  }
  return estimate;
}

void AdmissionSketch::stays_absent(const Estimate& estimate) noexcept {
  absent_now_ = std::max<std::uint64_t>(absent_now_, estimate.now);
}

void AdmissionSketch::take_back(KeyHash hash, std::uint64_t now, std::uint64_t last) noexcept {
  const Place at = place(hash);
  Line& line = lines_[at.line];
  raise(line.laps[lap_], at.columns,
        static_cast<std::uint16_t>(std::min<std::uint64_t>(now, kFull)));
  raise(line.laps[lap_ ^ 1], at.columns,
        static_cast<std::uint16_t>(std::min<std::uint64_t>(last, kFull)));
  absent_now_ = std::max(absent_now_, now);
  absent_last_ = std::max(absent_last_, last);
}

}  // namespace heatsink::detect
