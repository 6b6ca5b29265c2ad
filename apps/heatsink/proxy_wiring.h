// SPDX-License-Identifier: Apache-2.0
// Connects the running proxy with its admin API, its log, its live configuration and the checks of
// its deployment.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/heatsink/live_configuration.h"
#include "heatsink/admin/admin.h"
#include "heatsink/alerts/alerts.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"
#include "heatsink/doctor/doctor.h"
#include "heatsink/history/history.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/policy/options.h"
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

// Starts the checks on a thread of their own, and returns at once. `proxy` must outlive the result.
// Null if doctor.enabled is false.
std::unique_ptr<doctor::Watch> watch_deployment(const policy::ProxyOptions& options,
                                                const proxy::Proxy& proxy);

// Sets /healthz and /api/health. `watch` and `history` may be null; all must outlive the pages.
void add_health(admin::Sources& sources, const proxy::Proxy& proxy, const doctor::Watch* watch,
                const history::Writer* history);

// Asks the proxy's server, as the proxy's user, on a connection that the first question opens:
// without questions there is none, and statistics of a hundred kilobytes delay no client. An answer
// takes at most a second; with a connection attempt, two. One thread at a time. `options`: what
// holds now; another login opens another connection.
std::function<Result<std::string>(const std::string& name, Nanos window)> statistic_source(
    std::function<policy::ProxyOptions()> options);

}  // namespace heatsink::app
