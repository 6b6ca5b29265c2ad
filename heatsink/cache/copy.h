// SPDX-License-Identifier: Apache-2.0
// One local copy of a reply. Published copies are immutable, except for one mark.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/cache/read.h"

namespace heatsink::cache {

// Numbers the periods in which the tracker lost no invalidation. A copy of an older generation must
// not be served.
struct Generation {
  std::uint64_t number = 0;
  friend bool operator==(Generation, Generation) = default;
};

// The fields that every hit reads share one cache line.
struct alignas(64) Copy {
  Generation generation;     // of the tracker when it sent the fill
  TimePoint fill_sent_at{};  // the clock is read before the first byte of the fill leaves
  TimePoint deadline{};      // fill_sent_at + the key's TTL, capped by the local maximum
  StoredRead read = {};      // the read that this copy answers
  std::string reply = {};    // in RESP3 wire form, ready to send
  std::string resp2 = {};    // the same in RESP2; empty: the RESP3 bytes serve both
  bool nil = false;          // the server replied that the key does not exist
  // The first hit sets it; a copy without a hit is not refreshed. One store per copy, not per hit:
  // otherwise all readers would contend for this cache line.
  mutable std::atomic<bool> read_since_fill{false};
  // value_ends: when the value expires by the key's own TTL; max() without a TTL. ends_late_us: by
  // how much later the server's clock has certainly passed that time, too. 32 bits, so that a copy
  // fits into two cache lines.
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
