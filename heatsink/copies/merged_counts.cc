// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/merged_counts.h"

#include <algorithm>
#include <utility>

namespace heatsink::copies {

MergedCounts::MergedCounts(std::span<const detect::Measure> measures, std::size_t workers)
    : measures_(measures.begin(), measures.end()),
      of_workers_(measures.size(), std::vector<detect::Summary>(workers)),
      windows_(measures.size()) {}

std::size_t MergedCounts::place_of(const detect::Measure& measure) const {
  return static_cast<std::size_t>(std::find(measures_.begin(), measures_.end(), measure) -
                                  measures_.begin());
}

void MergedCounts::take(std::size_t worker, detect::Summary summary) {
  const std::size_t place = place_of(summary.measure());
  if (place < measures_.size()) of_workers_[place][worker] = std::move(summary);
}

void MergedCounts::merge() {
  for (std::size_t i = 0; i < windows_.size(); ++i)
    windows_[i] = detect::merge(of_workers_[i], kKeysMax);
}

void MergedCounts::follow(std::span<const detect::Measure> measures) {
  const std::size_t workers = of_workers_.front().size();
  std::vector<std::vector<detect::Summary>> next;
  for (const detect::Measure& measure : measures) {
    const std::size_t same = place_of(measure);
    if (same == measures_.size()) {
      next.emplace_back(workers);
    } else {
      next.push_back(std::move(of_workers_[same]));
    }
  }
  measures_.assign(measures.begin(), measures.end());
  of_workers_ = std::move(next);
  windows_.resize(measures_.size());
  merge();
}

double MergedCounts::seconds(const detect::Measure& measure) const {
  const auto counts = std::find_if(
      windows_.begin(), windows_.end(),
      [&measure](const detect::Summary& merged) { return merged.measure() == measure; });
  return counts == windows_.end() ? 0 : counts->seconds();
}

bool MergedCounts::has_accesses() const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [](const detect::Summary& merged) { return merged.requests > 0; });
}

}  // namespace heatsink::copies
