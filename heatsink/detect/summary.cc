// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/summary.h"

#include <algorithm>

namespace heatsink::detect {

std::uint64_t Summary::total() const {
  switch (dimension) {
    case Dimension::kBytes:
      return bytes;
    case Dimension::kWrites:
      return writes;
    case Dimension::kMisses:
      return reads - std::min(reads, hits);
    case Dimension::kRequests:
      break;
  }
  return requests;
}

double Summary::seconds() const {
  return std::chrono::duration<double>(covers_window ? covered : window).count();
}

}  // namespace heatsink::detect
