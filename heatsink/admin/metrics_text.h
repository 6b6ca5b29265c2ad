// SPDX-License-Identifier: Apache-2.0
// Writes metric samples in the text format of Prometheus (httpd::metrics_route).
#pragma once

#include <string>

#include "heatsink/base/metric.h"

namespace heatsink::admin {

// Samples of one name become one family, at the place of the first of them: a scraper refuses a
// page that describes a name twice. A label value is escaped so that it is one line of UTF-8,
// whatever its bytes.
std::string metrics_text(const MetricSamples& samples);

}  // namespace heatsink::admin
