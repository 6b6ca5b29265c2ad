// SPDX-License-Identifier: Apache-2.0
// Finds out how much memory this process may use: limits of the machine, control group and ulimit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/units.h"

namespace heatsink {

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

}  // namespace heatsink
