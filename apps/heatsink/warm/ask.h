// SPDX-License-Identifier: Apache-2.0
// Asks the proxy's admin API about warmed keys.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apps/heatsink/http/http.h"
#include "apps/heatsink/warm/order.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

// Waits for the answer and returns its body, or the error. kUnavailable: the proxy's reason.
Result<std::string> ask_proxy(const WarmRun& run, const HttpQuestion& question);

// Sends "POST /api/warm" with the time, or "POST /api/warm/end" to end.
Result<std::string> order_proxy(const WarmRun& run, boost::json::object order);

}  // namespace heatsink::app
