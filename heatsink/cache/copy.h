// SPDX-License-Identifier: Apache-2.0
// One local copy of a reply: immutable once published.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/cache/read.h"

namespace heatsink::cache {

// A run of the tracker during which no invalidation can have been missed. A copy of an older one is
// dead.
struct Generation {
  std::uint64_t number = 0;
  friend bool operator==(Generation, Generation) = default;
};

// What every hit looks at stands in one cache line.
struct alignas(64) Copy {
  Generation generation;     // of the tracker when the fill was sent
  TimePoint fill_sent_at{};  // read before the first byte of the fill left
  TimePoint deadline{};      // fill_sent_at + the key's TTL, at most + the local maximum
  StoredRead read = {};      // what it answers
  std::string reply = {};    // in wire form, ready to be sent: RESP3
  std::string resp2 = {};    // likewise for a client that speaks RESP2; empty: the same bytes
  bool nil = false;          // the server said: no such key

  std::string_view reply_in(bool resp3) const noexcept {
    return resp3 || resp2.empty() ? std::string_view(reply) : std::string_view(resp2);
  }
};

}  // namespace heatsink::cache
