// SPDX-License-Identifier: Apache-2.0
// Parses the replies of HOTKEYS GET, of Redis and of Valkey.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/rows.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

// Valkey (9.2): a list of entries with key, db and qps, an estimate of accesses per second in the
// last window that is complete. Redis (8.6): one table with by-cpu-time-us and by-net-bytes, lists
// of key and number, of a session that somebody started.
struct HotkeysReply {
  std::vector<KeyRow> rows;
  bool of_redis = false;
  bool active = false;  // of Redis: the session still counts
  double seconds = 0;   // of Redis: how long it has
};

// Nothing if it is neither. A null or an empty list is a reply without rows: nothing has been
// counted. At most kRowsMax rows.
std::optional<HotkeysReply> parse_hotkeys_reply(const resp::Value& reply);

}  // namespace heatsink::observe
