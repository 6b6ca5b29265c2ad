// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/summary.h"

#include <algorithm>

namespace heatsink::stats {

void Summary::merge(const Summary& other) {
  count += other.count;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  histogram.merge(other.histogram);
}

void Summary::clear() {
  count = 0;
  sum = 0;
  min = INT64_MAX;
  max = INT64_MIN;
  histogram.clear();
}

double Summary::mean() const {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

std::int64_t Summary::quantile(double q) const {
  if (count == 0) return 0;
  if (q <= 0) return min;
  if (q >= 1) return max;
  return std::clamp(histogram.quantile(q), min, max);
}

}  // namespace heatsink::stats
