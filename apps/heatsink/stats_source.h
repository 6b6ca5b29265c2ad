// SPDX-License-Identifier: Apache-2.0
// Reads window statistics for the proxy's admin API.
#pragma once

#include <functional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Asks the proxy's server, as the proxy's user, on a connection that the first question opens:
// without questions there is none, and statistics of a hundred kilobytes delay no client. An answer
// takes at most a second; with a connection attempt, two. One thread at a time. `options`: what
// holds now; another login opens another connection.
std::function<Result<std::string>(const std::string& name, Nanos window)> statistic_source(
    std::function<policy::ProxyOptions()> options);

}  // namespace heatsink::app
