// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use, and how many of the machine's nothing uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink {

// CPUs that this process may run on (sched_setaffinity(2), cpusets), or the CPU quota of its
// control groups if that is less. At least 0.01. Reads /proc and /sys/fs/cgroup; what cannot be
// read is no limit.
double usable_cpus();

// The CPU quota of the group that `membership` (the text of /proc/self/cgroup) names, or of one
// above it, whichever is least, in CPUs; v2 (cpu.max) and v1 (cpu.cfs_quota_us). 0: there is none.
// `root`: where control groups are mounted.
double cpu_quota(const std::string& root, std::string_view membership);

// Time that all CPUs of the machine together have been idle or waited for a disk, in seconds since
// it was started. `stat`: the text of /proc/stat, or nothing if that has no such line (proc(5)).
std::optional<double> idle_cpu_seconds(std::string_view stat);

}  // namespace heatsink
