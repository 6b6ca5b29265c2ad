// SPDX-License-Identifier: Apache-2.0
// What `heatsink warm` was asked to do: which keys, for how long, at which proxy.
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
  std::optional<std::size_t> limit;    // of the pattern
  std::uint32_t db = 0;
  Nanos lasts{0};
  std::size_t batch = 50;      // keys that are loaded at once
  double keys_per_second = 0;  // 0: as fast as they come
  bool json = false;
};

}  // namespace heatsink::app
