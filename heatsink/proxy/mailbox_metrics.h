// SPDX-License-Identifier: Apache-2.0
// Shows how much work waits for each thread that serves clients or copies.
#pragma once

#include <span>

#include "heatsink/base/metric.h"

namespace heatsink::copies {
class CopyKeeper;
}  // namespace heatsink::copies

namespace heatsink::proxy {

class Worker;

// Any thread.
void append_mailbox_samples(MetricSamples& samples, const copies::CopyKeeper& keeper,
                            std::span<const Worker* const> workers);
MetricRows mailbox_rows();

}  // namespace heatsink::proxy
