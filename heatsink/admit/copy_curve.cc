// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_curve.h"

#include <algorithm>

namespace heatsink::admit {
namespace {

// In parts of the number of copies that there may be.
constexpr double kSizes[] = {1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2, 4};
// Fewer copies in a miniature say nothing.
constexpr std::size_t kCopiesMin = 8;

// After ten intervals a third of the past is left.
constexpr std::uint64_t kReadsPerInterval = 1024;
constexpr double kKeptOfCounts = 0.9;
constexpr double kReadsMin = 2048;

std::size_t part(std::size_t copies, double of) {
  return static_cast<std::size_t>(static_cast<double>(copies) * of);
}

}  // namespace

CopyCurve::CopyCurve(std::size_t copies, std::size_t miniature_copies)
    : copies_(copies), miniature_copies_(miniature_copies) {}

void CopyCurve::follow(const Choice& choice) {
  if (!sizes_.empty() && sizes_.front().miniature.choice() == choice) return;
  sizes_.clear();
  for (const double size : kSizes) {
    const std::size_t in_miniature = part(miniature_copies_, size);
    if (in_miniature < kCopiesMin) continue;
    sizes_.push_back({part(copies_, size), Miniature(choice, in_miniature), {}});
  }
  reads_ = 0;
  set_costs(costs_, life_);
}

void CopyCurve::set_costs(const Costs& costs, Nanos life) {
  costs_ = costs;
  life_ = life;
  for (Size& size : sizes_) size.miniature.set_costs(costs, life);
}

void CopyCurve::read(std::uint32_t key, TimePoint now, Nanos life) {
  for (Size& size : sizes_) size.miniature.read(key, now, life);
  if (++reads_ >= kReadsPerInterval) add_counts();
}

void CopyCurve::write(std::uint32_t key) {
  for (Size& size : sizes_) size.miniature.write(key);
}

void CopyCurve::add_counts() {
  for (Size& size : sizes_) size.tally.add(size.miniature.take_counts(), kKeptOfCounts);
  reads_ = 0;
}

std::vector<CopyCurve::Point> CopyCurve::points(const Costs& costs) const {
  std::vector<Point> out;
  for (const Size& size : sizes_)
    if (size.tally.reads >= kReadsMin) out.push_back({size.copies, size.tally.saved(costs)});
  return out;
}

}  // namespace heatsink::admit
