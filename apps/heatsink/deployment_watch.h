// SPDX-License-Identifier: Apache-2.0
// Lets a running proxy check its deployment as `heatsink doctor` does, and show what it found.
#pragma once

#include <memory>

#include "heatsink/admin/admin.h"
#include "heatsink/doctor/doctor.h"
#include "heatsink/history/history.h"
#include "heatsink/policy/options.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Starts the checks on a thread of their own, and returns at once. `proxy` must outlive the result.
// Null if doctor.enabled is false.
std::unique_ptr<doctor::Watch> watch_deployment(const policy::ProxyOptions& options,
                                                const proxy::Proxy& proxy);

// Sets /healthz and /api/health. `watch` and `history` may be null; all must outlive the pages.
void add_health(admin::Sources& sources, const proxy::Proxy& proxy, const doctor::Watch* watch,
                const history::Writer* history);

}  // namespace heatsink::app
