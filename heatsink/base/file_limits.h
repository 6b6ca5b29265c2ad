// SPDX-License-Identifier: Apache-2.0
// Reads and raises the number of files that this process may open (ulimit -n).
#pragma once

#include <cstdint>

namespace heatsink {

// Sets the soft limit to the hard limit, as redis-server does, and returns it. The process must not
// use select(2), which cannot take numbers above 1023.
std::uint64_t raise_file_limit() noexcept;

}  // namespace heatsink
