// SPDX-License-Identifier: Apache-2.0
// Decides how many connections the file descriptors of the process are enough for.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/policy/options.h"

namespace heatsink::proxy {

struct DescriptorPlan {
  // How many clients and private connections, in sum, may be open. One more client is refused, so
  // that those who are connected keep what they need.
  std::uint64_t connections_max = 0;
  // What the log says at the start; empty: there are enough.
  std::string warning;
};

// `limit`: ulimit -n. `options.workers` is the number of workers. The error: the proxy could not
// even start.
Result<DescriptorPlan> plan_descriptors(const policy::ProxyOptions& options, std::uint64_t limit);

}  // namespace heatsink::proxy
