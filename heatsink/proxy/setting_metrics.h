// SPDX-License-Identifier: Apache-2.0
// Shows the settings that other metrics are compared with, so that an alert knows how full a limit
// is.
#pragma once

#include "heatsink/base/metric.h"

namespace heatsink::proxy {

struct SharedState;

// Any thread.
void append_setting_samples(MetricSamples& samples, const SharedState& shared);
MetricRows setting_rows();

}  // namespace heatsink::proxy
