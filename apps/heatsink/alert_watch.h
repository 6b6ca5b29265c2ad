// SPDX-License-Identifier: Apache-2.0
// Connects the alerts to the running proxy.
#pragma once

#include <memory>

#include "heatsink/alerts/alerts.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Null: no target is set. `proxy` outlives it.
Result<std::unique_ptr<alerts::Alerter>> watch_for_alerts(const policy::ProxyOptions& options,
                                                          const proxy::Proxy& proxy);

// "cache-1:6380": the machine and the port, or the machine and the socket's path.
std::string instance_name(const policy::ProxyOptions& options, std::uint16_t port);

}  // namespace heatsink::app
