// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of each thread that serves clients or copies: a thread is full long before
// the process is.
#pragma once

#include <span>
#include <thread>

#include "heatsink/base/metric.h"

namespace heatsink::proxy {

// Any thread. The threads must be joinable, and nothing joins them meanwhile. Costs a system call
// for each thread.
void append_thread_samples(MetricSamples& samples, const std::thread& keeper,
                           std::span<const std::thread> workers);
MetricRows thread_rows();

}  // namespace heatsink::proxy
