// SPDX-License-Identifier: Apache-2.0
// Defines the task of `heatsink warm`: the keys, the time, and the proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

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

}  // namespace heatsink::app
