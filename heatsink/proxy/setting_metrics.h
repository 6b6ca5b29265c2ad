// SPDX-License-Identifier: Apache-2.0
// Shows the settings that other metrics are compared with, so that an alert knows how full a limit
// is.
#pragma once

#include <cstdint>

#include "heatsink/base/metric.h"
#include "heatsink/base/units.h"
#include "heatsink/policy/options.h"

namespace heatsink::proxy {

// Limits that depend on more than the options: the proxy may have chosen them itself.
struct LimitsInForce {
  std::uint64_t clients = 0;
  Bytes client_buffers{0};
};

void append_setting_samples(MetricSamples& samples, const policy::ProxyOptions& options,
                            const LimitsInForce& limits);
MetricRows setting_rows();

}  // namespace heatsink::proxy
