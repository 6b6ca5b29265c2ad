// SPDX-License-Identifier: Apache-2.0
// Asks the proxy's admin API about warmed keys.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/heatsink/http/http.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// The task of `heatsink warm`: the keys, the time, and the proxy.
struct WarmRun {
  enum class What : std::uint8_t { kBegin, kEnd, kList };
  What what = What::kBegin;
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;
  std::vector<std::string> keys;
  std::optional<std::string> pattern;  // instead of keys
  std::optional<std::size_t> limit;    // for the pattern
  std::uint32_t db = 0;
  Nanos lasts{0};
  std::size_t batch = 50;      // keys loaded at once
  double keys_per_second = 0;  // 0: no limit
  bool json = false;
};

// Waits for the answer and returns its body, or the error. kUnavailable: the proxy's reason.
Result<std::string> ask_proxy(const WarmRun& run, const HttpQuestion& question);

// Sends "POST /api/warm" with the time, or "POST /api/warm/end" to end.
Result<std::string> order_proxy(const WarmRun& run, boost::json::object order);

}  // namespace heatsink::app
