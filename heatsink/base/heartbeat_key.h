// SPDX-License-Identifier: Apache-2.0
// Distinguishes the key of heatsink's heartbeats (cache.heartbeat-key) from users' keys.
#pragma once

#include <string_view>

namespace heatsink {

// Recognises the name by the default prefix, also after a hash tag (in a cluster); a key renamed by
// the user is not recognised.
inline bool is_heartbeat_key(std::string_view key) {
  if (key.starts_with('{')) key.remove_prefix(key.find('}') + 1);  // npos + 1: 0
  return key.starts_with("heatsink:heartbeat");
}

}  // namespace heatsink
