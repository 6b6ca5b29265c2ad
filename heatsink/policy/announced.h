// SPDX-License-Identifier: Apache-2.0
// Reads which addresses the proxy gives to cluster-aware clients (proxy.present-as: cluster).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/address.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// The proxies that clients see as the nodes of a cluster, in the order of their slots.
struct Announced {
  std::vector<net::HostPort> nodes;
  std::size_t self = 0;  // which of them is this proxy
};

// At most so many proxies share the slots.
inline constexpr std::size_t kAnnouncedMax = 64;

// `reached`: the own address of the client's connection, as net::local_text() writes it. It counts
// if proxy.announce-address is empty; then a Unix socket is an error.
Result<Announced> announced(const ProxyOptions& options, std::string_view reached);

inline bool presents_cluster(const ProxyOptions& options) {
  return options.present_as == PresentAs::kCluster;
}

// A sentence that names the option; "": the options fit together.
std::string announced_fault(const ProxyOptions& options);

}  // namespace heatsink::policy
