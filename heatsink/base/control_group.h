// SPDX-License-Identifier: Apache-2.0
// Finds the control groups of a process, from its own up to the root (cgroups(7)).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heatsink {

// Calls `visit` with the directory of each group of this controller in `membership` (the text of
// /proc/self/cgroup), and of all groups above it. `unified`: the files are those of v2. `root`: the
// mount point of control groups.
void for_each_control_group(
    const std::string& root, std::string_view membership, std::string_view controller,
    const std::function<void(const std::string& directory, bool unified)>& visit);

}  // namespace heatsink
