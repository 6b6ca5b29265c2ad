// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/sampling.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace heatsink::detect {
namespace {

constexpr Nanos kPeriod = std::chrono::milliseconds(100);
constexpr double kLogOfDoubt = 13.815510557964274;  // ln(10^6)
constexpr double kHuge = 4e18;

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::min(value, kHuge)); }

}  // namespace

void Sampler::move_to(TimePoint now, std::uint64_t accesses) noexcept {
  const bool first = next_ == TimePoint::min();
  const double elapsed_s = std::chrono::duration<double>(now - last_).count();
  const double seen = static_cast<double>(accesses - accesses_);
  last_ = now;
  next_ = now + kPeriod;
  accesses_ = accesses;
  if (first || elapsed_s <= 0) return;
  rate_ = whole(seen / elapsed_s);
  const double times =
      seen / elapsed_s / static_cast<double>(std::max<std::uint64_t>(lossless_per_second_, 1));
  const double enough = std::clamp(std::ceil(times), 1.0, static_cast<double>(kFactorMax));
  factor_ = std::bit_ceil(static_cast<std::uint32_t>(enough));
  // Uses the topmost bits: the lower bits of such a generator have short periods.
  mask_ = factor_ == 1 ? 0 : ~std::uint64_t{0} << (64 - std::countr_zero(factor_));
}

// Gaps between independent choices are geometric: computes one from a uniform number.
std::uint64_t Sampler::skip(std::uint32_t factor) noexcept {
  if (factor <= 1) return 1;
  const double uniform = (static_cast<double>(next_random() >> 11) + 0.5) * 0x1p-53;
  return 1 + whole(std::log(uniform) / std::log1p(-1.0 / factor));
}

SampleBounds::SampleBounds(std::uint32_t factor, std::uint32_t weight_max)
    : root_(std::sqrt(2 * kLogOfDoubt * (factor - 1.0) * weight_max)),
      range_(factor <= 1 ? 0 : 2.0 / 3 * kLogOfDoubt * factor * weight_max) {}

// The lower bound solves T + root sqrt(T) - (S - range) >= 0.
std::uint64_t SampleBounds::low(std::uint64_t sampled) const {
  if (range_ == 0) return sampled;
  const double rest = static_cast<double>(sampled) - range_;
  if (rest <= 0) return 0;
  const double side = (std::sqrt(root_ * root_ + 4 * rest) - root_) / 2;
  return std::min(sampled, whole(std::floor(side * side)));
}

// The upper bound solves T - root sqrt(T) - (S + range) <= 0.
std::uint64_t SampleBounds::high(std::uint64_t sampled) const {
  if (range_ == 0) return sampled;
  const double rest = static_cast<double>(sampled) + range_;
  const double side = (std::sqrt(root_ * root_ + 4 * rest) + root_) / 2;
  return std::max(sampled, whole(std::ceil(side * side)));
}

}  // namespace heatsink::detect
