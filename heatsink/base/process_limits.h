// SPDX-License-Identifier: Apache-2.0
// Finds out what this process may use: CPUs, memory and open files, by the machine, its control
// groups (cgroups(7)) and ulimit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/units.h"

namespace heatsink {

// The text of a file of the kernel (/proc, /sys), which does not report its size; empty if the
// file cannot be read. Not for files of users: it has no limit.
std::string file_text(const std::string& path);

// Finds the control groups of a process, from its own up to the root. Calls `visit` with the
// directory of each group of this controller in `membership` (the text of /proc/self/cgroup), and
// of all groups above it. `unified`: the files are those of v2. `root`: the mount point of control
// groups.
void for_each_control_group(
    const std::string& root, std::string_view membership, std::string_view controller,
    const std::function<void(const std::string& directory, bool unified)>& visit);

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

// Sizes in bytes; 0: unknown.
struct MemoryLimits {
  std::uint64_t machine = 0;
  std::uint64_t control_group = 0;
  std::uint64_t address_space = 0;  // the rest of `ulimit -v`
};

// Reads /proc and /sys/fs/cgroup; unreadable files set no limit.
MemoryLimits memory_limits();

// The lowest limit of the group in `membership` (the text of /proc/self/cgroup) and of all groups
// above it; v2 (memory.max) and v1 (memory.limit_in_bytes). `root`: the mount point of control
// groups.
std::uint64_t control_group_limit(const std::string& root, std::string_view membership);

// Half of the lower limit of machine and control group; but at most a quarter of the address space,
// because threads and libraries reserve more of it than they use. 1 GiB without a known limit; at
// least 16 MiB.
Bytes share_for_buffers(const MemoryLimits& limits);

// Sets the soft limit to the hard limit, as redis-server does, and returns it. The process must not
// use select(2), which cannot take numbers above 1023.
std::uint64_t raise_file_limit() noexcept;

}  // namespace heatsink
