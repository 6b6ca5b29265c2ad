// SPDX-License-Identifier: Apache-2.0
// What of a client's is under way to the server, and what it has been told.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// Data of a session, which alone changes it; its reliefs read it.
struct ClientTraffic {
  std::uint64_t sent = 0;      // requests on their way, ever
  std::uint64_t received = 0;  // replies to them, ever
  std::uint64_t in_flight() const { return sent - received; }

  // Names (by hash) that commands in flight touch: not served locally until those are answered. Of
  // commands in a transaction, which EXEC executes, until EXEC is answered.
  bool touches(NameHash name) const { return names.test(name.value % names.size()); }
  void touch(NameHash name) { names.set(name.value % names.size()); }
  void touch_all() { names.set(); }
  std::bitset<512> names;

  // The server said something before then: no copy that is not proven since may follow it (at
  // Level::kSession).
  TimePoint last_reply_at{};
  void note_reply_at(TimePoint at) { last_reply_at = std::max(last_reply_at, at); }

  std::uint32_t holds = 0;  // replies that wait for the tracker: nothing is written
};

}  // namespace heatsink::proxy
