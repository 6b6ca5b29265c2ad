// SPDX-License-Identifier: Apache-2.0
// Where the proxy's admin API gets window statistics from.
#pragma once

#include <functional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Asks the proxy's server, as the proxy's user, by a connection that the first question makes: who
// asks nothing has none, and a hundred kilobytes of statistics hold up no client. An answer takes
// a second at most, with a connection attempt two. One thread at a time.
std::function<Result<std::string>(const std::string& name, Nanos window)> statistic_source(
    const policy::ProxyOptions& options);

}  // namespace heatsink::app
