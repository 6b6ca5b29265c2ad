// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/descriptors.h"

#include <algorithm>

namespace heatsink::proxy {
namespace {

// Of the keeper, the log, the admin API and the process itself, without HTTP connections.
constexpr std::uint64_t kProcess = 16;
// Of a worker: its event loop, its listening socket and its shared connections.
constexpr std::uint64_t kWorker = 6;
// For HTTP connections, certificates that are loaded again, and connections that are just ending.
constexpr std::uint64_t kSpare = 32;

}  // namespace

Result<DescriptorPlan> plan_descriptors(const policy::ProxyOptions& options, std::uint64_t limit) {
  const auto workers = static_cast<std::uint64_t>(options.workers);
  const auto clients = static_cast<std::uint64_t>(options.clients_max);
  const std::uint64_t least = kProcess + kWorker * workers;
  if (limit < least)
    return Error{ErrorCode::kOutOfRange,
                 "the proxy needs at least " + std::to_string(least) + " file descriptors with " +
                     std::to_string(workers) + " workers, but the limit (ulimit -n) is " +
                     std::to_string(limit) + ": raise it, or lower proxy.workers"};
  const std::uint64_t own =
      least + kSpare + workers * static_cast<std::uint64_t>(options.private_connections_idle);
  DescriptorPlan plan;
  plan.connections_max = std::max(limit > own ? limit - own : 0, limit / 2);
  if (plan.connections_max >= clients) return plan;
  plan.warning = "proxy.maximum-clients is " + std::to_string(clients) + ", but the limit of " +
                 std::to_string(limit) + " file descriptors (ulimit -n) is enough for " +
                 std::to_string(plan.connections_max) +
                 " clients, so further ones are refused: raise the hard limit to at least " +
                 std::to_string(clients + own) +
                 " (systemd: LimitNOFILE; more if clients use private connections), or lower "
                 "proxy.maximum-clients";
  return plan;
}

}  // namespace heatsink::proxy
