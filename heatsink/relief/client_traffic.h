// SPDX-License-Identifier: Apache-2.0
// Keeps track of one client's requests in flight, and of the last time it heard from the server.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/command/name_filter.h"
#include "heatsink/relief/shown_copies.h"

namespace heatsink::proxy {

// A copy that has answered the client: of this name, by the fill that was sent then.
struct GivenCopy {
  NameHash name;
  TimePoint fill_sent_at{};
};

// Data of a session, and only the session changes it; its reliefs read it.
struct ClientTraffic {
  std::uint64_t sent = 0;      // requests sent, in total
  std::uint64_t received = 0;  // replies received, in total
  std::uint64_t in_flight() const { return sent - received; }

  // Names (by hash) of keys that commands in flight touch: the proxy serves no copies of them until
  // those commands are answered. Commands in a transaction count until EXEC is answered.
  bool touches(NameHash name) const { return names.may_have(name); }
  void touch(NameHash name) { names.add(name); }
  void touch_all() {
    names.add_all();
    written.add_all();
  }
  void forget() {  // nothing is in flight
    names.clear();
    written.clear();
  }
  NameFilter names;
  // The same for names that they may write.
  bool writes(NameHash name) const { return written.may_have(name); }
  void note_write(NameHash name) { written.add(name); }
  NameFilter written;

  // Time by which the client's latest reply or message from the server had been read. At
  // Level::kSession only copies that are proven since then may follow it.
  TimePoint last_reply_at{};
  void note_reply_at(TimePoint at) { last_reply_at = std::max(last_reply_at, at); }
  // Of a cluster's client: the copies that it has been shown. Changed by what answers from copies.
  mutable ShownCopies shown;
  // At Level::kSession a copy of this node must have been proven after that, and what any node is
  // asked for must have been asked after that.
  TimePoint fence(cache::ProofIndex node) const {
    return std::max(last_reply_at, shown.fence(node));
  }
  TimePoint fence() const { return std::max(last_reply_at, shown.latest()); }

  // The copies that have answered the request of now; null: the client keeps no values.
  std::vector<GivenCopy>* given = nullptr;

  // Replies that wait for the tracker; while there are any, nothing is written.
  std::uint32_t holds = 0;
};

}  // namespace heatsink::proxy
