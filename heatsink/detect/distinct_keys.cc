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
  constexpr double kAlpha = 0.7213 / (1 + 1.079 / kCount);  // the paper's, for 128 and more
  double sum = 0;
  for (const std::uint8_t run : registers_) sum += std::ldexp(1.0, -int{run});
  const double raw = kAlpha * kCount * kCount / sum;
  const auto untouched =
      static_cast<double>(std::count(registers_.begin(), registers_.end(), std::uint8_t{0}));
  if (raw > 2.5 * kCount || untouched == 0) return raw;
  return kCount * std::log(kCount / untouched);
}

void DistinctKeys::turn(TimePoint now) noexcept {
  if (!clock_.due(now)) return;
  const SlotClock::Move move = clock_.move_to(now);
  const Position& at = clock_.position();
  for (std::uint32_t i = 0, cell = at.slot; i < move.turns; ++i, cell = at.before(cell))
    sketches_[cell] = {};
}

void DistinctKeys::add(const AccessLog& log, TimePoint now) noexcept {
  turn(now);
  DistinctSketch& sketch = sketches_[clock_.position().slot];
  for (std::uint32_t i = 0; i < log.size(); ++i) sketch.add(log[i].tag);
}

DistinctSketch DistinctKeys::window(TimePoint now) noexcept {
  turn(now);
  DistinctSketch all;
  for (const DistinctSketch& slot : sketches_) all.merge(slot);
  return all;
}

}  // namespace heatsink::detect
