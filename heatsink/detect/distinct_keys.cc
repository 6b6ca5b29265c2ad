// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/distinct_keys.h"

#include <algorithm>
#include <cmath>

namespace heatsink::detect {

void DistinctSketch::merge(const DistinctSketch& other) noexcept {
  for (std::size_t i = 0; i < kRegisters; ++i)
    registers_[i] = std::max(registers_[i], other.registers_[i]);
}

double DistinctSketch::estimate() const {
  constexpr auto kCount = static_cast<double>(kRegisters);
  // from the paper, for 128 registers and more
  constexpr double kAlpha = 0.7213 / (1 + 1.079 / kCount);
  double sum = 0;
  for (const std::uint8_t run : registers_) sum += std::ldexp(1.0, -int{run});
  const double raw = kAlpha * kCount * kCount / sum;
  const auto untouched =
      static_cast<double>(std::count(registers_.begin(), registers_.end(), std::uint8_t{0}));
  if (raw > 2.5 * kCount || untouched == 0) return raw;
  return kCount * std::log(kCount / untouched);
}

void DistinctKeys::move(const SlotClock::Move& move, const Position& position) noexcept {
  for (std::uint32_t i = 0, cell = position.slot; i < move.turns; ++i, cell = position.before(cell))
    sketches_[cell] = {};
}

DistinctSketch DistinctKeys::window() const noexcept {
  DistinctSketch all;
  for (const DistinctSketch& slot : sketches_) all.merge(slot);
  return all;
}

}  // namespace heatsink::detect
