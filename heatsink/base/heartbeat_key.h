// SPDX-License-Identifier: Apache-2.0
// Distinguishes the key of heatsink's heartbeats (cache.heartbeat-key) from users' keys.
#pragma once

#include <string_view>

namespace heatsink {

// Recognises the name by the default prefix; a key renamed by the user is not recognised.
inline bool is_heartbeat_key(std::string_view key) { return key.starts_with("heatsink:heartbeat"); }

}  // namespace heatsink
