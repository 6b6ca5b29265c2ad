// SPDX-License-Identifier: Apache-2.0
// Finds out how many CPUs this process may use, and how much CPU time of the machine is idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink {

// The number of CPUs that this process may run on (sched_setaffinity(2), cpusets), or the CPU quota
// of its control groups if that is less. At least 0.01. Reads /proc and /sys/fs/cgroup; unreadable
// files set no limit.
double usable_cpus();

// The lowest CPU quota of the group in `membership` (the text of /proc/self/cgroup) and the groups
// above it, in CPUs; v2 (cpu.max) and v1 (cpu.cfs_quota_us). 0: no quota. `root`: the mount point
// of control groups.
double cpu_quota(const std::string& root, std::string_view membership);

// The time in seconds since the machine's start for which its CPUs, all together, were idle or
// waited for a disk. `stat`: the text of /proc/stat; nothing if it has no such line (proc(5)).
std::optional<double> idle_cpu_seconds(std::string_view stat);

}  // namespace heatsink
