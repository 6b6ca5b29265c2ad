// SPDX-License-Identifier: Apache-2.0
// Parses the replies of HOTKEYS GET from Redis and Valkey.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/rows.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

// Valkey 9.2 sends a list of entries with key, db and qps, the estimated accesses per second in the
// last complete window. Redis 8.6 sends one table for a session that a client started; its fields
// by-cpu-time-us and by-net-bytes are lists of key and number.
struct HotkeysReply {
  std::vector<KeyRow> rows;
  bool of_redis = false;
  bool active = false;  // Redis: the session still counts
  double seconds = 0;   // Redis: duration of the session
};

// Nothing if the reply has neither form. A null or an empty list means that nothing was counted,
// and gives no rows. At most kRowsMax rows.
std::optional<HotkeysReply> parse_hotkeys_reply(const resp::Value& reply);

}  // namespace heatsink::observe
