// SPDX-License-Identifier: Apache-2.0
// The key that heatsink's heartbeats ask for (cache.heartbeat-key), as it is told from others.
#pragma once

#include <string_view>

namespace heatsink::detect {

// By its name: it begins with the default one. Not so one that somebody has called otherwise.
inline bool is_heartbeat_key(std::string_view key) { return key.starts_with("heatsink:heartbeat"); }

}  // namespace heatsink::detect
