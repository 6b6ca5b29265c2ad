// SPDX-License-Identifier: Apache-2.0
// Options of a proxy of which a test warms keys.
#pragma once

#include <cstdint>

#include "heatsink/policy/options.h"

namespace heatsink::copies {

// Half of the `copies` may be warmed; the keys "off:*" get no copies.
inline policy::ProxyOptions warming_options(std::int64_t copies) {
  policy::ProxyOptions options;
  options.maximum_size = copies;
  options.warm_share = Share{0.5};
  options.rules.emplace_back();
  options.rules.back().match = "off:*";
  options.rules.back().level = cache::Level::kOff;
  return options;
}

}  // namespace heatsink::copies
