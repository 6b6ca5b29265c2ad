// SPDX-License-Identifier: Apache-2.0
// Declares the options under detection.*: what is counted, and which keys are hot.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"
#include "heatsink/detect/measure.h"

namespace heatsink::policy {

// Plain values, a part of ProxyOptions. describe() adds the option rows, which point into this
// object.
struct DetectionOptions {
  bool detection_enabled = true;
  Nanos window = std::chrono::seconds(10);
  std::int64_t slots = 10;
  detect::Dimension dimension = detect::Dimension::kRequests;
  std::optional<double> hot_qps, warm_qps;  // nothing: automatic (detect::set_thresholds())
  Bytes hot_bytes = mebibytes(50);          // per second
  Bytes warm_bytes = mebibytes(10);
  Share hot_share;
  std::int64_t top_n = 1000;
  std::int64_t confirm_windows = 1;
  double demote_ratio = 0.8;
  double write_hot_ratio = 10;
  Nanos minimum_residence = std::chrono::seconds(10);
  Nanos promotion_interval{0};
  Nanos demotion_interval{0};
  Share burst{0.25};
  Bytes detection_memory = Bytes{2'500'000};
  Nanos tick = Millis(100);
  std::int64_t fleet_size = 1;

  void describe(OptionSet& set);
};

}  // namespace heatsink::policy
