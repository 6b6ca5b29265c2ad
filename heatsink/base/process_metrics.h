// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's counters of this process, as metrics with the names that Prometheus uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/base/metric.h"

namespace heatsink {

// Fields of /proc/PID/stat (proc(5)), in the units of that file.
struct ProcessStat {
  std::uint64_t cpu_ticks = 0;    // user and system
  std::uint64_t start_ticks = 0;  // since the machine was started
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};

// Nothing if it is not such a line. The program's name may contain any characters.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// Memory of this process that is in RAM now; 0: not known.
struct ResidentMemory {
  std::uint64_t all = 0;
  std::uint64_t files = 0;  // part of it: pages of the program and its libraries
};
ResidentMemory resident_memory();

// The current samples. Reads /proc: system calls, and one directory entry per open descriptor.
// Leaves out unreadable values.
MetricSamples process_samples();
MetricRows process_rows();

}  // namespace heatsink
