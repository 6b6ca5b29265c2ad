// SPDX-License-Identifier: Apache-2.0
// Tells the key that heatsink's own heartbeats read (cache.heartbeat-key) from the keys of users.
#pragma once

#include <string_view>

namespace heatsink {

// By its name: it begins with the default one. Not so one that somebody has called otherwise.
inline bool is_heartbeat_key(std::string_view key) { return key.starts_with("heatsink:heartbeat"); }

}  // namespace heatsink
