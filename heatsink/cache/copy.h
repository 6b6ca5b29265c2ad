// SPDX-License-Identifier: Apache-2.0
// One local copy of a reply: immutable once published, except for one mark.
#pragma once

#include <atomic>
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
  // Set by the first hit, so that what nobody reads is not refreshed. One store per copy and not
  // per hit, or all readers would fight for its line.
  mutable std::atomic<bool> read_since_fill{false};
  // When the value ends by the key's own TTL, max() if it has none; and by how much later the
  // server's clock has surely come to it, too. In 32 bits: a copy is two cache lines.
  std::uint32_t ends_late_us = 0;
  TimePoint value_ends = TimePoint::max();

  void mark_read() const noexcept {
    if (!read_since_fill.load(std::memory_order_relaxed))
      read_since_fill.store(true, std::memory_order_relaxed);
  }

  std::string_view reply_in(bool resp3) const noexcept {
    return resp3 || resp2.empty() ? std::string_view(reply) : std::string_view(resp2);
  }
};

}  // namespace heatsink::cache
