// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/measure.h"

namespace heatsink::detect {

const char* to_string(Dimension dimension) {
  switch (dimension) {
    case Dimension::kRequests:
      return "requests";
    case Dimension::kBytes:
      return "bytes";
    case Dimension::kWrites:
      return "writes";
    case Dimension::kMisses:
      return "misses";
  }
  return "";
}

}  // namespace heatsink::detect
