// SPDX-License-Identifier: Apache-2.0
// Reads what the kernel counts of this process, as metrics with the names that Prometheus uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/base/metric.h"

namespace heatsink {

// Of /proc/PID/stat (proc(5)), in the units of that file.
struct ProcessStat {
  std::uint64_t cpu_ticks = 0;    // user and system
  std::uint64_t start_ticks = 0;  // since the machine was started
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};

// None: that is no such line. The name of the program may contain anything.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

std::uint64_t resident_bytes();  // of this process now; 0: not known

// Of this process now. Reads /proc: system calls, and one directory entry per open descriptor. What
// cannot be read is left out.
MetricSamples process_samples();
MetricRows process_rows();

}  // namespace heatsink
