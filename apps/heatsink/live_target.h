// SPDX-License-Identifier: Apache-2.0
// Connects a live configuration to the running proxy, its log and its admin API.
#pragma once

#include <memory>
#include <string>

#include "apps/heatsink/live_configuration.h"
#include "heatsink/admin/admin.h"
#include "heatsink/alerts/alerts.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// The tokens of the admin API; empty: none. Reads admin.token-file.
Result<httpd::Tokens> token_of(const policy::ProxyOptions& options);
// Where and how the log is written, and from which level on.
Status open_log(const policy::ProxyOptions& options);

// All outlive the target. `admin`: null until the admin API has started, or if there is none.
// `alerts`: null if no target is set.
LiveTarget live_target(proxy::Proxy& proxy, const std::unique_ptr<httpd::HttpServer>& admin,
                       const std::unique_ptr<alerts::Alerter>& alerts);

// Adds the pages of the configuration. `live` outlives them.
void add_config_pages(admin::Sources& sources, LiveConfiguration& live);

}  // namespace heatsink::app
