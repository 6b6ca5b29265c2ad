// SPDX-License-Identifier: Apache-2.0
// A question about warmed keys to the proxy's admin API.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apps/heatsink/http/http.h"
#include "apps/heatsink/warm/order.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

// Waits for the answer: its body, or why there is none. kUnavailable: the proxy's reason.
Result<std::string> ask_proxy(const WarmRun& run, const HttpQuestion& question);

// "POST /api/warm" with the time that was asked for, or of an end "POST /api/warm/end".
Result<std::string> order_proxy(const WarmRun& run, boost::json::object order);

}  // namespace heatsink::app
