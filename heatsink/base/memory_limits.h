// SPDX-License-Identifier: Apache-2.0
// Finds out how much memory this process may use: of the machine, its control group and its ulimit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/units.h"

namespace heatsink {

// Bytes; 0: none is known.
struct MemoryLimits {
  std::uint64_t machine = 0;
  std::uint64_t control_group = 0;
  std::uint64_t address_space = 0;  // what is left of `ulimit -v`
};

// Reads /proc and /sys/fs/cgroup; what cannot be read is no limit.
MemoryLimits memory_limits();

// Of the group that `membership` (the text of /proc/self/cgroup) names, and of all above it, the
// least; v2 (memory.max) and v1 (memory.limit_in_bytes). `root`: where control groups are mounted.
std::uint64_t control_group_limit(const std::string& root, std::string_view membership);

// Half of the least of machine and control group; of the address space a quarter, since threads and
// libraries take more of that than they use. 1 GiB where no limit is known; never below 16 MiB.
Bytes share_for_buffers(const MemoryLimits& limits);

}  // namespace heatsink
