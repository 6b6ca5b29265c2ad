// SPDX-License-Identifier: Apache-2.0
// Writes metric samples in the text format of Prometheus (httpd::metrics_route).
#pragma once

#include <string>

#include "heatsink/base/metric.h"

namespace heatsink::admin {

// Samples of one name become one family, at the position of the first: scrapers refuse a page that
// describes a name twice. Label values of any bytes are escaped to one line of UTF-8.
std::string metrics_text(const MetricSamples& samples);

}  // namespace heatsink::admin
